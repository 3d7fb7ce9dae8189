import { afterEach, beforeEach, vi } from 'vitest';

/** What is written to standard output during each test of the file that calls this; nothing of it is shown. */
export function capturePrinted(): { text: string } {
  const printed = { text: '' };
  beforeEach(() => {
    printed.text = '';
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      printed.text += String(text);
      return true;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  return printed;
}
