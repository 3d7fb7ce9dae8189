import {
  type Action,
  attributesOf,
  type Case,
  canonical,
  Dice,
  fill,
  listOf,
  numberIn,
  type Row,
  render,
  type ServiceScenario,
} from './records.js';
import type { Lookup, Settings, Template, Values, Wording, World, Write } from './world.js';

/** The entity's attributes that point to this element of the account's list. */
export const referring = (reference: NonNullable<World['reference']>, element: Row): Values =>
  Object.fromEntries(
    Object.entries(reference.attributes).map(([own, there]) => [own, element.values[there]!]),
  );

/** Makes scenarios: every value comes from the dice, none from a task of the target. */
export class Generator {
  readonly #used = new Set<string>();
  constructor(
    readonly world: World,
    readonly settings: Settings,
    readonly dice: Dice,
  ) {}

  /** A new value; codes and names that stand for one record never repeat inside a scenario. */
  value(attribute: string): string {
    const maker = this.world.makers[attribute];
    if (!maker) throw new Error(`nothing known of ${attribute}`);
    const unique = attribute === this.world.catalog?.key || maker.some((part) => 'alphabets' in part);
    for (let attempt = 0; attempt < 1000; attempt++) {
      const value = maker
        .map((part) =>
          'words' in part
            ? this.dice.pick(part.words)
            : part.alphabets.map((a) => this.dice.pick([...a])).join(''),
        )
        .join('');
      if (!unique) return value;
      if (this.#used.has(value)) continue;
      this.#used.add(value);
      return value;
    }
    throw new Error(`no unused value left for ${attribute}`);
  }

  /** A record of the lookup's form; what is given stays, the rest is made. */
  row(lookup: Lookup, given: Values, lists: { readonly [list: string]: readonly Row[] }): Row {
    const values: { [attribute: string]: string } = { ...given };
    const rows: { [list: string]: readonly Row[] } = { ...lists };
    for (const attribute of attributesOf(lookup.result)) {
      const list = listOf(attribute);
      const range = attribute in values ? undefined : this.world.lists[list];
      if (!range) values[attribute] ??= this.value(attribute);
      else rows[list] ??= this.elements(lookup, list, this.dice.between(range));
    }
    return { values, lists: rows };
  }

  /** Different elements of a list. */
  elements(lookup: Lookup, list: string, count: number): Row[] {
    const rows: Row[] = [];
    for (let attempt = 0; rows.length < count && attempt < 1000; attempt++) {
      const row = this.element(lookup, list);
      if (!rows.some((other) => canonical(other) === canonical(row))) rows.push(row);
    }
    return rows;
  }

  element(lookup: Lookup, list: string, given: Values = {}): Row {
    const values: { [attribute: string]: string } = { ...given };
    for (const attribute of attributesOf(lookup.result)) {
      if (listOf(attribute) === list) values[attribute] ??= this.value(attribute);
    }
    return { values, lists: {} };
  }

  /**
   * The list to choose from: the right element, and ones that agree with a part of what the person states. Where the
   * choice is not in question the right one stands first.
   */
  options(catalog: NonNullable<World['catalog']>, wording: Wording): { right: Row; all: Row[] } {
    const { stated, extreme } = wording;
    const inQuestion = this.settings.options > 1;
    const count = inQuestion ? this.settings.options : this.listed(catalog.list);
    const sorted: string[] = [];
    if (extreme) {
      for (let i = 0; sorted.length < count && i < 1000; i++) {
        const value = this.value(extreme.attribute);
        if (!sorted.includes(value)) sorted.push(value);
      }
      sorted.sort((a, b) => extreme.sign * (numberIn(a) - numberIn(b)));
    }
    // With an extreme the right one is seldom the best of the whole list: a better one may not agree.
    const agreeing =
      extreme && stated.length > 0 ? Math.min(count, this.dice.between(extreme.agreeing)) : count;
    const rank = extreme ? this.dice.below(count - agreeing + 1) : 0;
    const right = this.element(catalog, catalog.list, extreme ? { [extreme.attribute]: sorted[rank]! } : {});
    const others = sorted.filter((_, i) => i !== rank);
    // Only options behind the right one in the order of the extreme can agree in everything.
    const behind = this.dice.shuffle(others.slice(rank)).slice(0, agreeing - 1);
    const all = [right];
    for (let k = 1; k < count; k++) {
      const given: { [attribute: string]: string } = {};
      if (extreme) given[extreme.attribute] = others[k - 1]!;
      const agrees = extreme !== undefined && behind.includes(others[k - 1]!);
      const differs = agrees ? -1 : (k - 1) % (stated.length + 1);
      stated.forEach((attribute, i) => {
        const same = agrees || (differs < stated.length && i !== differs);
        given[attribute] = same ? right.values[attribute]! : this.other(attribute, right.values[attribute]!);
      });
      all.push(this.unlike(all, () => this.element(catalog, catalog.list, given)));
    }
    return { right, all: inQuestion ? this.dice.shuffle(all) : all };
  }

  /** Length of a list that is not in question. */
  listed(list: string): number {
    const { listed } = this.settings;
    return this.dice.between([1, Math.min(listed, this.world.lists[list]?.[1] ?? listed)]);
  }

  /** An element that does not look like one before it: the same words with another code would confuse anybody. */
  unlike(rows: readonly Row[], make: () => Row): Row {
    const looks = ({ values }: Row) =>
      Object.entries(values)
        .filter(([attribute]) => this.world.makers[attribute]!.every((part) => 'words' in part))
        .filter(([, value]) => Number.isNaN(numberIn(value)))
        .map(([, value]) => value)
        .join();
    let row = make();
    for (let attempt = 0; attempt < 30 && rows.some((other) => looks(other) === looks(row)); attempt++)
      row = make();
    return row;
  }

  other(attribute: string, value: string): string {
    for (let attempt = 0; attempt < 1000; attempt++) {
      const another = this.value(attribute);
      if (another !== value) return another;
    }
    throw new Error(`${attribute} has one value only`);
  }

  case(write: Write, account: Row): Case {
    const { world, settings, dice } = this;
    const forbidden = write.forbidden.length > 0 && dice.float() < settings.forbiddenShare;
    const wording = this.wording(write);
    const given: { [attribute: string]: string } = {};
    const statuses = forbidden ? write.forbidden : write.allowed;
    if (world.entity.status && statuses.length > 0) given[world.entity.status] = dice.pick(statuses);
    const entityKey = `${world.entity.parameter}.key`;
    given[entityKey] = this.value(entityKey);
    if (world.reference) {
      const elements = account.lists[world.reference.list]!;
      const element = settings.decoys > 1 ? dice.pick(elements.slice(1)) : elements[0]!;
      Object.assign(given, referring(world.reference, element));
    }
    const entity = this.row(world.entity, { ...account.values, ...given }, {});
    const line = world.lines ? dice.pick(entity.lists[world.lines]!) : undefined;
    const values: { [attribute: string]: string } = { ...account.values, ...entity.values, ...line?.values };
    let catalog: Row | null = null;
    if (world.catalog && this.chooses(write)) {
      const { right, all } = this.options(world.catalog, wording);
      const key = { [world.catalog.key]: values[world.catalog.key]! };
      catalog = this.row(world.catalog, { ...account.values, ...key }, { [world.catalog.list]: all });
      Object.assign(values, right.values);
    }
    for (const attribute of attributesOf([wording.text, ...Object.values(write.arguments)]))
      values[attribute] ??= this.value(attribute);
    return {
      write: write.tool,
      forbidden,
      entity,
      catalog,
      values,
      wording: String(fill(wording.text, values)),
    };
  }

  wording({ wordings }: Write): Wording {
    const byExtreme = this.dice.float() < this.settings.extremeShare;
    const fitting = wordings.filter(({ extreme }) => (extreme !== undefined) === byExtreme);
    return this.dice.pick(fitting.length > 0 ? fitting : wordings);
  }

  chooses(write: Write): boolean {
    const list = this.world.catalog?.list;
    return attributesOf(Object.values(write.arguments)).some((attribute) => listOf(attribute) === list);
  }
}

export function makeScenario(world: World, settings: Settings, seed: number): ServiceScenario {
  // Environments of different capabilities draw different people from the same seed.
  const dice = new Dice(
    [...settings.capability].reduce((mixed, c) => Math.imul(mixed, 31) + c.charCodeAt(0), seed),
  );
  const generator = new Generator(world, settings, dice);
  const offered = (names: string) => world.writes.filter((write) => names.split(',').includes(write.tool));
  const any = offered(settings.writes);
  const first = settings.firstWrites === '' ? any : offered(settings.firstWrites);
  const count = dice.between([settings.requestsLeast, settings.requestsMost]);
  const weighted = (writes: readonly Write[]) => {
    let at = dice.float() * writes.reduce((sum, write) => sum + write.weight, 0);
    for (const write of writes) {
      at -= write.weight;
      if (at < 0) return write;
    }
    return writes[writes.length - 1]!;
  };
  const chosen: Write[] = [];
  while (chosen.length < count) {
    const write = weighted(chosen.length === 0 ? first : any);
    // The person's answer fits one request: a second one that is only understood by asking would be ambiguous.
    if (chosen.some((other) => asks(world, other)) && asks(world, write)) continue;
    chosen.push(write);
  }
  const order = dice.shuffle(chosen);

  let account: Row = { values: {}, lists: {} };
  if (world.account) {
    const key = `${world.account.parameter}.key`;
    const lists: { [list: string]: readonly Row[] } = {};
    const { reference } = world;
    if (reference)
      lists[reference.list] = generator.elements(
        world.account,
        reference.list,
        settings.decoys > 1 ? dice.between([2, settings.decoys]) : generator.listed(reference.list),
      );
    account = generator.row(world.account, { [key]: generator.value(key) }, lists);
  }
  const cases = order.map((write) => generator.case(write, account));
  const actions = cases.map((one): Action => {
    const write = world.writes.find(({ tool }) => tool === one.write)!;
    const does = one.forbidden ? world.handover! : write;
    return { tool: does.tool, arguments: renderArguments(does.arguments, one.values) };
  });
  const facts = cases
    .map(
      (one) => (one.forbidden ? world.handover! : world.writes.find(({ tool }) => tool === one.write)!).fact,
    )
    .map((fact, i) => String(fill(fact, cases[i]!.values)))
    .filter((fact) => fact !== '');
  const [between, last, end] = world.joints;
  const request =
    fill(world.opening, account.values) +
    cases
      .map(({ wording }, i) => (i === 0 ? '' : i === cases.length - 1 ? last : between) + wording)
      .join('') +
    end;
  return { seed, id: `${settings.capability}-${seed}`, account, cases, actions, facts, request };
}

/** Does a write need something that the person only says when asked? */
export const asks = (world: World, write: Write): boolean => {
  const worded = write.wordings.flatMap(({ text }) => attributesOf(text));
  const needed = attributesOf(Object.values(write.arguments)).filter(
    (attribute) => !worded.includes(attribute),
  );
  return world.dialogue.some(({ answer }) =>
    attributesOf(answer).some((attribute) => needed.includes(attribute)),
  );
};

export const renderArguments = (template: { readonly [name: string]: Template }, values: Values) =>
  render(template, { values, lists: {} }) as { [parameter: string]: unknown };
