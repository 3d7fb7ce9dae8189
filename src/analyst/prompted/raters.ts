import { Random } from '../../run/random.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { type CompactView, compactTrajectory } from '../compact/compact.js';
import { estimateTokens } from '../compact/tokens.js';
import type { Analyst, Capability, LabelledPair } from '../contract.js';
import { familyOf } from '../prompts/family.js';
import type { Family, PromptLibrary } from '../prompts/library.js';
import { chooseForDiscovery, packBatches } from './batches.js';
import { type DiscoveryAttempt, discoverTask } from './discover-task.js';
import { type DomainWords, domainWords } from './domain.js';
import { labelTask } from './label-task.js';
import { mergeTask } from './merge-task.js';
import { joinNearDuplicates, mostSupported, type Proposal } from './proposals.js';
import type { ReadingSettings } from './settings.js';
import type { Asker } from './task.js';

export interface PromptedOptions {
  readonly library: PromptLibrary;
  readonly settings: ReadingSettings;
  readonly seed: number;
  /**
   * Called after the discovery, after its proposals are joined and after the labels: throws where whoever answers
   * left something open that the next questions need.
   */
  readonly finish?: () => void;
  /** What the work costs, in lines for people. */
  readonly preview?: (workload: Workload) => readonly string[];
  readonly standing?: () => string;
}

/** Requests and tokens that a diagnosis will take, before any is sent. */
export interface Workload {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Tokens of an answer, from what a label with its reason takes; thinking comes on top, and is not known before. */
const LABEL_TOKENS = 90;
const DISCOVERY_TOKENS = 1_500;
/** Tokens of a candidate's name and definition in a rater's request. */
const CANDIDATE_TOKENS = 80;
/** Share of a batch that one attempt may take, so that each batch holds several. */
const SHARE_OF_BATCH = 0.2;
/** Of a rater's budget, what the policy may take in discovery, where all attempts of a batch share it. */
const SHARED_POLICY = 0.3;
const MOST_REMARKS = 20;
const VIEWS_KEPT = 256;

/**
 * Discovery and labelling by the prompts of a family, whoever answers them. Raters differ by the order in which they
 * see the candidates and by answering apart; they are never told how an attempt was judged.
 */
export class PromptedRaters implements Prompted {
  readonly name: string;
  readonly concurrency: number;
  readonly #asker: Asker;
  readonly #options: PromptedOptions;
  /** Views of the attempts at work, the latest last; every rater reads the same one. */
  readonly #views = new Map<Trajectory, CompactView>();
  readonly #refused = new Set<string>();
  readonly #unanswered: string[] = [];
  #missing = 0;
  #family: Family = 'general';
  /** Numbers of the attempts in names of requests; ids may hold anything. */
  #numbers = new Map<Trajectory, number>();

  constructor(asker: Asker, options: PromptedOptions) {
    this.name = asker.name;
    this.concurrency = asker.concurrency;
    this.#asker = asker;
    this.#options = options;
  }

  /**
   * Maps over batches, then joins what is the same.
   * @throws what the asker throws; TraceError when no batch got an answer that can be used.
   */
  async discover(trajectories: readonly Trajectory[]): Promise<readonly Capability[]> {
    this.#begin(trajectories);
    const { library, settings } = this.#options;
    const domain = domainWords(trajectories);
    const prompt = library.of(this.#family, 'discover');
    const batches = this.#batches(trajectories);
    const replies = await allOf(
      batches.map((attempts, i) =>
        this.#asker.ask(
          discoverTask({
            id: `discover-${number(i + 1, batches.length)}`,
            prompt,
            attempts,
            candidates: settings.candidates,
            domain,
          }),
        ),
      ),
    );
    this.#options.finish?.();
    for (const [i, { value, problems }] of replies.entries()) {
      for (const problem of problems) this.#refused.add(problem);
      if (value === null)
        this.#unanswered.push(
          `discovery, batch ${i + 1} of ${batches.length}: ${problems[0] ?? 'no answer'}`,
        );
    }
    const proposals = joinNearDuplicates(replies.flatMap(({ value }) => value ?? []));
    const merged = await this.#merge(proposals, batches.length, domain);
    return mostSupported(merged, settings.candidates).map(({ name, definition, examples }) => ({
      name,
      definition,
      examples: examples.slice(0, 4),
    }));
  }

  async #merge(
    proposals: readonly Proposal[],
    batches: number,
    domain: DomainWords,
  ): Promise<readonly Proposal[]> {
    const { library, settings } = this.#options;
    if (proposals.length <= 1 || (batches === 1 && proposals.length <= settings.candidates)) return proposals;
    const { value, problems } = await this.#asker.ask(
      mergeTask({
        id: 'merge',
        prompt: library.of(this.#family, 'merge'),
        proposals,
        candidates: settings.candidates,
        domain,
      }),
    );
    this.#options.finish?.();
    if (value === null)
      this.#unanswered.push(
        `joining the proposals: ${problems[0] ?? 'no answer'}; only those that words show to be the same were joined`,
      );
    return joinNearDuplicates(value ?? proposals);
  }

  async label(
    trajectory: Trajectory,
    candidates: readonly Capability[],
    rater: number,
  ): Promise<readonly LabelledPair[]> {
    if (candidates.length === 0) return [];
    const { library, seed } = this.#options;
    const place = this.#numbers.get(trajectory) ?? 0;
    const { value, problems } = await this.#asker.ask(
      labelTask({
        id: `label-r${number(rater + 1, 10)}-${number(place + 1, this.#numbers.size)}`,
        prompt: library.of(this.#family, 'label'),
        trajectory,
        view: this.#view(trajectory, this.#options.settings.trajectoryTokens),
        candidates,
        rater,
        random: new Random(seed, '/label'),
      }),
    );
    const pairs = value ?? [];
    const missing = candidates.length - pairs.length;
    if (missing > 0) {
      this.#missing += missing;
      this.#unanswered.push(`rater ${rater + 1}, ${trajectory.id}: ${problems[0] ?? 'no answer'}`);
    }
    return pairs;
  }

  finish(): void {
    this.#options.finish?.();
  }

  preview(trajectories: readonly Trajectory[], raters: number): readonly string[] {
    const { preview } = this.#options;
    return preview ? preview(this.workload(trajectories, raters)) : [];
  }

  standing(): string {
    return this.#options.standing?.() ?? '';
  }

  /** What was refused and what got no answer, in words; the same for the same answers. */
  remarks(): readonly string[] {
    const refused = [...this.#refused].sort().map((problem) => `Discovery: ${problem}.`);
    const unanswered = [...this.#unanswered].sort();
    const more = unanswered.length - MOST_REMARKS;
    return [
      ...refused.slice(0, MOST_REMARKS),
      ...(this.#missing > 0
        ? [
            `${this.#missing} labels are missing: whoever was asked gave no valid answer, and none was guessed.`,
          ]
        : []),
      ...unanswered.slice(0, MOST_REMARKS).map((text) => `No valid answer: ${text}.`),
      ...(more > 0 ? [`No valid answer: ${more} more.`] : []),
    ];
  }

  /** What the whole diagnosis will take, as far as it can be told before the candidates are known. */
  workload(trajectories: readonly Trajectory[], raters: number): Workload {
    this.#begin(trajectories);
    const { library, settings } = this.#options;
    const { candidates } = settings;
    const batches = this.#batches(trajectories);
    const discover = fixedTokens(library, this.#family, 'discover');
    const label = fixedTokens(library, this.#family, 'label') + candidates * CANDIDATE_TOKENS;
    const merge = batches.length > 1 ? 1 : 0;
    const read = batches.flat().reduce((sum, { view }) => sum + viewTokens(view, false), 0);
    const policies = batches.reduce((sum, batch) => sum + estimateTokens(batch[0]?.view.policy ?? ''), 0);
    const shown = trajectories.reduce(
      (sum, trajectory) => sum + viewTokens(this.#view(trajectory, settings.trajectoryTokens), true),
      0,
    );
    return {
      requests: batches.length + merge + raters * trajectories.length,
      inputTokens:
        batches.length * discover +
        policies +
        read +
        merge * 3_000 +
        raters * (shown + trajectories.length * label),
      outputTokens:
        (batches.length + merge) * DISCOVERY_TOKENS +
        raters * trajectories.length * candidates * LABEL_TOKENS,
    };
  }

  #begin(trajectories: readonly Trajectory[]): void {
    this.#family = this.#options.settings.family ?? familyOf(trajectories);
    this.#numbers = new Map(trajectories.map((trajectory, i) => [trajectory, i]));
    this.#refused.clear();
    this.#unanswered.length = 0;
    this.#missing = 0;
  }

  #view(trajectory: Trajectory, tokens: number): CompactView {
    const known = this.#views.get(trajectory);
    if (known) return known;
    const view = compactTrajectory(trajectory, {
      family: this.#family,
      tokens,
      reference: this.#options.settings.showReference,
    });
    this.#views.set(trajectory, view);
    const [oldest] = this.#views.keys();
    if (oldest && this.#views.size > VIEWS_KEPT) this.#views.delete(oldest);
    return view;
  }

  #batches(trajectories: readonly Trajectory[]): DiscoveryAttempt[][] {
    const { settings, seed } = this.#options;
    const chosen = chooseForDiscovery(trajectories, settings.discoverAttempts, seed);
    const tokens = Math.min(settings.trajectoryTokens, Math.ceil(settings.batchTokens * SHARE_OF_BATCH));
    const attempts = chosen.map((trajectory) => ({
      trajectory,
      view: compactTrajectory(trajectory, {
        family: this.#family,
        tokens,
        policyTokens: settings.trajectoryTokens * SHARED_POLICY,
        reference: settings.showReference,
      }),
    }));
    return packBatches(attempts, ({ view }) => viewTokens(view, false), settings.batchTokens);
  }
}

type Prompted = Pick<
  Analyst,
  'name' | 'concurrency' | 'discover' | 'label' | 'finish' | 'remarks' | 'preview' | 'standing'
>;

/** All results; an error only once the others are in, for they may have been paid. @throws the first error. */
async function allOf<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/** A number with the zeros that sort it: `007` of 250. */
function number(value: number, of: number): string {
  return String(value).padStart(Math.max(2, String(of).length), '0');
}

function viewTokens(view: CompactView, whole: boolean): number {
  const always =
    estimateTokens(view.transcript) + estimateTokens(view.ending) + estimateTokens(view.reference ?? '');
  return whole ? always + estimateTokens(view.policy) + estimateTokens(view.tools) : always;
}

function fixedTokens(library: PromptLibrary, family: Family, name: string): number {
  const prompt = library.of(family, name);
  return estimateTokens(prompt.system) + estimateTokens(JSON.stringify(prompt.output)) + 100;
}
