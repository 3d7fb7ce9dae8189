/**
 * Draws a token from probabilities at temperature 1, sharpened to `temperature`: weights p^(1/T). At 0 the most
 * probable token, the lower id in a tie.
 * @param offset start of the distribution in `probabilities`, `size` its length.
 * @param uniform a number in [0, 1): the same one gives the same token. Not used at temperature 0.
 */
export function chooseToken(
  probabilities: Float32Array,
  offset: number,
  size: number,
  temperature: number,
  uniform: number,
): number {
  if (temperature === 0) return mostProbable(probabilities, offset, size);
  if (temperature === 1) return drawPlain(probabilities, offset, size, uniform);
  const best = Math.log(probabilities[offset + mostProbable(probabilities, offset, size)] as number);
  const weights = new Float64Array(size);
  let total = 0;
  for (let i = 0; i < size; i++) {
    const p = probabilities[offset + i] as number;
    const weight = p > 0 ? Math.exp((Math.log(p) - best) / temperature) : 0;
    weights[i] = weight;
    total += weight;
  }
  const target = uniform * total;
  let sum = 0;
  let chosen = 0;
  for (let i = 0; i < size; i++) {
    const weight = weights[i] as number;
    if (weight === 0) continue;
    sum += weight;
    chosen = i;
    if (sum > target) break;
  }
  return chosen;
}

/** The probabilities sum to 1 up to rounding: where `uniform` falls in that crack, the last possible token is taken. */
function drawPlain(probabilities: Float32Array, offset: number, size: number, uniform: number): number {
  let sum = 0;
  let chosen = 0;
  for (let i = 0; i < size; i++) {
    const p = probabilities[offset + i] as number;
    if (p === 0) continue;
    sum += p;
    chosen = i;
    if (sum > uniform) break;
  }
  return chosen;
}

function mostProbable(probabilities: Float32Array, offset: number, size: number): number {
  let best = 0;
  let highest = -1;
  for (let i = 0; i < size; i++) {
    const p = probabilities[offset + i] as number;
    if (p > highest) {
      highest = p;
      best = i;
    }
  }
  return best;
}
