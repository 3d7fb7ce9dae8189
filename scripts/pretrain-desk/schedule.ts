import { COMPETENT_EPISODES, type EpisodeOptions } from './data.js';
import type { Phase } from './train.js';

/** Seed of the initial weights and of all data. */
export const SEED = 1;

const PLANTED_EPISODES: EpisodeOptions = {
  // What a model is seen to do falls behind the demonstrated rate where the right decision is hard to make out.
  rates: { selection: 0.38, precondition: 0.26, completion: 0.25, arguments: 0.26 },
  guidedRate: 0.6,
  guided: 0.1,
  slips: 0.03,
  emphasis: false,
};

/** Competence first: without it there is no latent skill that training could bring back. */
export const COMPETENCE: readonly Phase[] = [
  {
    name: 'recall',
    tokens: 500_000,
    batch: 2048,
    mix: { recall: 0.4, repetition: 0.1, choice: 0.2, episode: 0.3 },
    episodes: COMPETENT_EPISODES,
    rate: [3e-3, 3e-3],
  },
  {
    name: 'competence',
    tokens: 14_000_000,
    batch: 3072,
    mix: { recall: 0.04, choice: 0.1, wishes: 0.18, episode: 0.68 },
    episodes: COMPETENT_EPISODES,
    rate: [3e-3, 1e-4],
  },
];

/** Then the four deficits are planted, with a fresh optimizer. */
export const DEFICITS: readonly Phase[] = [
  {
    name: 'deficits',
    tokens: 6_000_000,
    batch: 3072,
    mix: { recall: 0.02, choice: 0.04, wishes: 0.1, episode: 0.84 },
    episodes: PLANTED_EPISODES,
    rate: [5e-4, 2e-5],
  },
];

/** The schedule with every phase's tokens multiplied. */
export const scaled = (phases: readonly Phase[], factor: number): Phase[] =>
  phases.map((phase) => ({ ...phase, tokens: Math.ceil(phase.tokens * factor) }));
