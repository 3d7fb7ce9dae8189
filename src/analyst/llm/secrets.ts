/** Names of environment variables that hold what nobody else may read. */
const SECRET_NAME = /(?:key|token|secret|password|credential)s?$/i;
/** Shorter values would blot out ordinary words. */
const SHORTEST = 8;

/**
 * Takes secrets out of texts that are shown or kept: the value of every environment variable whose name says that it
 * holds one, wherever it stands.
 */
export class Secrets {
  readonly #values: readonly string[];

  constructor(environment: Readonly<Record<string, string | undefined>>, more: readonly string[] = []) {
    const named = Object.entries(environment).flatMap(([name, value]) =>
      SECRET_NAME.test(name) && value !== undefined ? [value.trim()] : [],
    );
    const values = [...named, ...more].filter((value) => value.length >= SHORTEST);
    // Longer ones first: one may be a part of another.
    this.#values = [...new Set(values)].sort((a, b) => b.length - a.length);
  }

  /** The text without them. */
  redact(text: string): string {
    return this.#values.reduce(
      (clean, value) =>
        [value, encodeURIComponent(value), Buffer.from(value).toString('base64')].reduce(
          (cleaner, form) => cleaner.replaceAll(form, '[secret]'),
          clean,
        ),
      text,
    );
  }
}
