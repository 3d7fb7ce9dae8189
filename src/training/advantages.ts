/** How the rewards of a group become advantages. */
export type AdvantageNormalisation =
  /** r − mean (Dr. GRPO). */
  | 'mean'
  /** (r − mean) / (population standard deviation + ε). */
  | 'mean-std';

const EPSILON = 1e-6;

/**
 * Advantages of one group: attempts at the same task. Broken attempts (null) leave the group: they count neither
 * in its mean nor in its size and get no advantage. A group whose rewards are all equal teaches nothing.
 * @returns one advantage an attempt (null for a broken one), or null for a constant group.
 */
export function groupAdvantages(
  rewards: readonly (number | null)[],
  normalisation: AdvantageNormalisation,
): (number | null)[] | null {
  const valid = rewards.filter((reward) => reward !== null);
  if (valid.length === 0) return null;
  const mean = valid.reduce((a, b) => a + b, 0) / valid.length;
  const std = Math.sqrt(valid.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / valid.length);
  if (std < EPSILON) return null;
  const scale = normalisation === 'mean-std' ? 1 / (std + EPSILON) : 1;
  return rewards.map((reward) => (reward === null ? null : (reward - mean) * scale));
}
