import { basename } from 'node:path';
import { DOMAINS, type Domain, type DomainName, loadDomain, Tau2DataError } from './data.js';
import { evaluate } from './evaluate.js';
import { recordedCalls } from './messages.js';
import { type Dict, isDict, numeric } from './python/value.js';
import { messagesOf, type ResultsFile, readResults } from './results.js';
import type { RecordedCall, RewardBasis, Task } from './task.js';

export interface Agreement {
  readonly equal: number;
  readonly total: number;
}

/** How one file of recorded simulations compares with ours. */
export interface Replay {
  readonly file: string;
  /** Null where the file neither says it nor holds a call that would tell it. */
  readonly domain: DomainName | null;
  readonly simulations: number;
  readonly calls: { readonly equal: number; readonly different: number; readonly skipped: number };
  /** Simulations whose recorded db_match comes out. */
  readonly dbMatch: Agreement;
  /** Simulations whose reward comes out, parts that need a judge taken from the record. */
  readonly rewards: Agreement;
  /** The same for each part of the reward that needs no judge. */
  readonly parts: ReadonlyMap<RewardBasis, Agreement>;
  /** Simulations without a recorded verdict, or of a task that is nowhere described. */
  readonly notJudged: number;
  readonly differences: readonly string[];
}

/** Most differences that are kept in words. */
const MOST_SHOWN = 20;

class Counter {
  equal = 0;
  total = 0;
  add(same: boolean): boolean {
    this.total++;
    if (same) this.equal++;
    return same;
  }
}

/**
 * Replays every recorded tool call and judges every simulation anew.
 * @throws Tau2DataError for files that cannot be read or whose domain cannot be told.
 */
export function replay(data: string, paths: readonly string[]): Replay[] {
  const domains = new Map<DomainName, Domain>();
  return paths.map((path) => {
    const file = readResults(path);
    const name = domainOf(file);
    if (name === null) return nothingToReplay(file);
    const domain = domains.get(name) ?? loadDomain(data, name);
    domains.set(name, domain);
    return replayFile(file, domain);
  });
}

/** The file's own word, or the domain that has all the tools that were called and answered. */
function domainOf(file: ResultsFile): DomainName | null {
  const named = DOMAINS.find((name) => name === file.domain || `${name}-workflow` === file.domain);
  if (named) return named;
  if (file.domain !== null)
    throw new Tau2DataError(
      `${file.path}: domain ${file.domain} is not supported; supported are ${DOMAINS.join(', ')}`,
    );
  const called = new Set(
    file.simulations.flatMap((simulation) =>
      recordedCalls(messagesOf(simulation))
        .filter((call) => !call.content.startsWith('Error: Tool '))
        .map((call) => call.name),
    ),
  );
  if (called.size === 0) return null;
  const fitting = DOMAINS.filter((name) => [...called].every((tool) => TOOL_OF[name].test(tool)));
  if (fitting.length !== 1)
    throw new Tau2DataError(
      `${file.path} does not say its domain, and its calls do not tell it: ` +
        [...called].slice(0, 5).join(', '),
    );
  return fitting[0] as DomainName;
}

const nothingToReplay = (file: ResultsFile): Replay => ({
  file: file.path,
  domain: null,
  simulations: file.simulations.length,
  calls: { equal: 0, different: 0, skipped: 0 },
  dbMatch: { equal: 0, total: 0 },
  rewards: { equal: 0, total: 0 },
  parts: new Map(),
  notJudged: file.simulations.length,
  differences: [],
});

/** Words that only one domain's tools have, and the names that domains share. */
const SHARED = 'calculate|transfer_to_human_agents|get_user_details';
const TOOL_OF: { readonly [domain in DomainName]: RegExp } = {
  airline: new RegExp(`reservation|flight|airports|certificate|^(${SHARED})$`),
  retail: new RegExp(`order|product|item_details|find_user|user_address|^(${SHARED})$`),
  telecom:
    /customer|line$|bill|details_by_id|payment|data|roaming|network|sim_card|sim_status|speed_test|status_bar|airplane|apn|wifi|vpn|app|mms|reboot|^transfer_to_human_agents$/,
  mock: /task|get_users|notification|^transfer_to_human_agents$/,
};

function replayFile(file: ResultsFile, domain: Domain): Replay {
  const calls = { equal: 0, different: 0, skipped: 0 };
  const dbMatch = new Counter();
  const rewards = new Counter();
  const parts = new Map<RewardBasis, Counter>();
  const differences: string[] = [];
  let notJudged = 0;
  const note = (text: string) => {
    if (differences.length < MOST_SHOWN) differences.push(text);
  };
  for (const simulation of file.simulations) {
    const where = `${basename(file.path)}: simulation ${String(simulation.get('id'))}`;
    const id = String(simulation.get('task_id'));
    const task = file.tasks.get(id) ?? domain.tasks.get(id);
    replayCalls(file, domain, task, recordedCalls(messagesOf(simulation)), (call, content) => {
      if (content === call.content) calls.equal++;
      else if (isValidationText(call.content)) calls.skipped++;
      else {
        calls.different++;
        note(`${where}: ${call.name}\n  recorded ${call.content}\n  found    ${content}`);
      }
    });
    const recorded = simulation.get('reward_info');
    if (!isDict(recorded) || !task) {
      notJudged++;
      continue;
    }
    const found = evaluate(domain, task, messagesOf(simulation), reasonOf(simulation), {
      solo: file.solo,
      strict: false,
    });
    const check = recorded.get('db_check');
    if (isDict(check) && !dbMatch.add(check.get('db_match') === found.dbMatch))
      note(`${where}: db_match\n  recorded ${String(check.get('db_match'))}\n  found    ${found.dbMatch}`);
    const breakdown = recorded.get('reward_breakdown');
    let reward = found.reward;
    if (isDict(breakdown))
      for (const [name, value] of breakdown) {
        const part = name as RewardBasis;
        // A judge's verdict is taken as recorded.
        if (found.notScored.includes(part)) reward *= numeric(value) ?? 1;
        else {
          const counter = parts.get(part) ?? new Counter();
          parts.set(part, counter);
          if (!counter.add(numeric(value) === found.parts.get(part)))
            note(`${where}: ${part}\n  recorded ${numeric(value)}\n  found    ${found.parts.get(part)}`);
        }
      }
    if (!rewards.add(numeric(recorded.get('reward')) === reward))
      note(`${where}: reward\n  recorded ${numeric(recorded.get('reward'))}\n  found    ${reward}`);
  }
  return {
    file: file.path,
    domain: domain.name,
    simulations: file.simulations.length,
    calls,
    dbMatch,
    rewards,
    parts,
    notJudged,
    differences,
  };
}

/** Makes every call of a simulation in a fresh world and hands over what it answers. */
function replayCalls(
  file: ResultsFile,
  domain: Domain,
  task: Task | undefined,
  calls: readonly RecordedCall[],
  answer: (call: RecordedCall, content: string) => void,
): void {
  const world = domain.open(file.solo);
  world.setState(task?.initial ?? null, [], false);
  for (const call of calls) answer(call, world.respond(call.name, call.requestor, call.arguments).content);
}

const reasonOf = (simulation: Dict): string | null => {
  const reason = simulation.get('termination_reason');
  return typeof reason === 'string' ? reason : null;
};

/** pydantic's own words, which differ from version to version. */
export const isValidationText = (content: string): boolean =>
  /^Error: \d+ validation errors? for /.test(content);
