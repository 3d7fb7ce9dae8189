/**
 * Text from logs on one line, safe for a terminal: control characters (escape sequences among them) and characters
 * that turn the direction of what follows are taken out.
 * @param most characters looked at; logs may hold megabytes in one string.
 */
export function safeLine(text: string, most = 2000): string {
  return text
    .slice(0, most)
    .replace(/\s+/g, ' ')
    .replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .trim();
}

/** Words broken into lines of at most `width` cells; a longer word is broken itself. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const whole of text.split(/\s+/)) {
    let word = whole;
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = '';
    }
    while (word.length > width) {
      lines.push(word.slice(0, width));
      word = word.slice(width);
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, line];
}
