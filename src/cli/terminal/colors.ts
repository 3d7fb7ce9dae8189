import pc from 'picocolors';

/** The few colours used; all plain where the output is no terminal or NO_COLOR is set. */
export interface Colors {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
}

/** Colours for a stream: on for terminals, off otherwise; NO_COLOR and FORCE_COLOR decide first. */
export function colorsFor(stream: { readonly isTTY?: boolean }): Colors {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  const enabled = NO_COLOR ? false : FORCE_COLOR ? FORCE_COLOR !== '0' : stream.isTTY === true;
  const { bold, dim, red, green, yellow, cyan } = pc.createColors(enabled);
  return { bold, dim, red, green, yellow, cyan };
}
