import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine, Trainable } from '../engine/contract.js';
import { writeJsonWhole } from '../run/files.js';
import { readTrainingLog, type TrainingLine, writeTrainingLog } from './training-log.js';

/** The best evaluation so far and the file of its parameters. */
export interface BestCheckpoint {
  readonly iteration: number;
  readonly success: number;
  readonly reward: number;
}

/** Where a training stands after an iteration. */
export interface TrainingState {
  readonly lines: readonly TrainingLine[];
  readonly best: BestCheckpoint | null;
  /** Stopped early: no iteration follows. */
  readonly stopped: boolean;
}

interface StoredState {
  readonly key: string;
  readonly iteration: number;
  readonly best: BestCheckpoint | null;
  readonly stopped: boolean;
}

/**
 * Checkpoints of one training in a folder: `training.jsonl`, and `checkpoints/` with parameters and optimizer
 * moments of the latest and of the best iteration. `checkpoints/state.json` is written last and names the
 * iteration that counts, so that a kill between any two writes leaves the state before it whole.
 */
export class CheckpointFolder {
  readonly #folder: string;
  readonly #key: string;

  /** @param key digest of all that the training depends on: checkpoints with another key are not used. */
  constructor(folder: string, key: string) {
    this.#folder = folder;
    this.#key = key;
  }

  get logFile(): string {
    return join(this.#folder, 'training.jsonl');
  }

  /** The state to go on from, its parameters loaded into the policy; null to begin. */
  async restore(engine: Engine, policy: Trainable): Promise<TrainingState | null> {
    const stored = this.#read();
    if (!stored) return null;
    await engine.loadState(policy, this.#parameters(stored.iteration));
    return { ...stored, lines: readTrainingLog(this.logFile, stored.iteration) };
  }

  /** Saves the state after its last iteration; of older parameters only the best stay. */
  async save(engine: Engine, policy: Trainable, state: TrainingState): Promise<void> {
    const iteration = state.lines.length;
    await engine.saveState(policy, this.#parameters(iteration));
    writeTrainingLog(this.logFile, state.lines);
    const { best, stopped } = state;
    writeJsonWhole(this.#stateFile, { key: this.#key, iteration, best, stopped } satisfies StoredState);
    const kept = new Set([iteration, best?.iteration].map((i) => this.#parameters(i ?? iteration)));
    for (const name of readdirSync(this.#checkpoints)) {
      const path = join(this.#checkpoints, name);
      if (path !== this.#stateFile && !kept.has(path)) rmSync(path, { recursive: true });
    }
  }

  /** Loads the parameters of a saved iteration. */
  async load(engine: Engine, policy: Trainable, iteration: number): Promise<void> {
    await engine.loadState(policy, this.#parameters(iteration));
  }

  /** Removes the checkpoints; the log stays. */
  clear(): void {
    rmSync(this.#checkpoints, { recursive: true, force: true });
  }

  get #checkpoints(): string {
    return join(this.#folder, 'checkpoints');
  }

  get #stateFile(): string {
    return join(this.#checkpoints, 'state.json');
  }

  #parameters(iteration: number): string {
    return join(this.#checkpoints, `iteration-${String(iteration).padStart(5, '0')}.state`);
  }

  #read(): StoredState | null {
    if (!existsSync(this.#stateFile)) return null;
    const stored = JSON.parse(readFileSync(this.#stateFile, 'utf8')) as StoredState;
    return stored.key === this.#key ? stored : null;
  }
}
