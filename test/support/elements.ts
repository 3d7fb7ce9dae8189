/**
 * Names of all elements of a page, in order.
 * @throws Error where a tag is not closed in order, an attribute is not quoted or handles an event, or a stray < or >
 *   stands in text: the page then holds markup that its writer did not mean.
 */
export function elements(text: string): string[] {
  const stack: string[] = [];
  const names: string[] = [];
  const tag = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-zA-Z0-9-]+="[^"<>]*")*)\s*(\/?)>|<!doctype html>/g;
  let at = 0;
  const between = (from: number, to: number) => {
    if (stack.at(-1) !== 'style' && /[<>]/.test(text.slice(from, to)))
      throw new Error(`stray < or > in ${text.slice(from, to).slice(0, 80)}`);
  };
  for (const match of text.matchAll(tag)) {
    between(at, match.index);
    at = match.index + match[0].length;
    const [, closing, name, attributes = '', empty] = match;
    if (name === undefined) continue;
    for (const [, attribute] of attributes.matchAll(/([a-zA-Z0-9-]+)="[^"]*"/g))
      if (/^on/i.test(attribute!)) throw new Error(`handler in ${match[0]}`);
    if (closing) {
      const open = stack.pop();
      if (open !== name) throw new Error(`</${name}> closes <${open}>`);
    } else {
      names.push(name);
      if (!empty && name !== 'meta' && name !== 'br') stack.push(name);
    }
  }
  between(at, text.length);
  if (stack.length > 0) throw new Error(`open: ${stack.join(' ')}`);
  return names;
}
