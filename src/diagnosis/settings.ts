/** What decides whether a capability counts as missing; the method's defaults. */
export interface DiagnosisSettings {
  /** N: raters. */
  readonly raters: number;
  /** K: raters that a capability has to pass. */
  readonly ratersNeeded: number;
  /** ρ: least share of failed trajectories that lack it. */
  readonly coverage: number;
  /** δ: least difference between the error rates of failed and passed trajectories. */
  readonly gap: number;
}

export const DIAGNOSIS_DEFAULTS: DiagnosisSettings = { raters: 10, ratersNeeded: 8, coverage: 0.1, gap: 0.2 };
/** Settings of a smoke run: the step is quick as it is. */
export const DIAGNOSIS_FAST: DiagnosisSettings = DIAGNOSIS_DEFAULTS;

/**
 * Defaults completed with what is given; absent K is 8 of 10, rounded up for other N.
 * @throws RangeError for settings that contradict each other.
 */
export function diagnosisSettings(given: Partial<DiagnosisSettings> = {}): DiagnosisSettings {
  const raters = given.raters ?? DIAGNOSIS_DEFAULTS.raters;
  const settings = {
    raters,
    ratersNeeded: given.ratersNeeded ?? Math.ceil(0.8 * raters),
    coverage: given.coverage ?? DIAGNOSIS_DEFAULTS.coverage,
    gap: given.gap ?? DIAGNOSIS_DEFAULTS.gap,
  };
  if (!Number.isInteger(raters) || raters < 1)
    throw new RangeError(`raters must be 1 or more, got ${raters}`);
  if (!(settings.ratersNeeded >= 1 && settings.ratersNeeded <= raters))
    throw new RangeError(`of ${raters} raters ${settings.ratersNeeded} cannot be needed`);
  for (const name of ['coverage', 'gap'] as const)
    if (!(settings[name] >= 0 && settings[name] <= 1))
      throw new RangeError(`${name} must be between 0 and 1, got ${settings[name]}`);
  return settings;
}
