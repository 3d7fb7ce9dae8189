import type { Message, Trajectory } from '../trajectory/trajectory.js';

/** The form of a JSON value: keys and types, with values left out; list elements are taken together. */
export function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].sort().join('|')}]`;
  if (value && typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, part]) => `${key}:${shapeOf(part)}`)
      .join()}}`;
  return value === null ? 'null' : typeof value;
}

/** Tool results of a conversation by tool: `[tool, shape]`. Text that is no JSON has the shape `text`. */
export function resultShapes(messages: readonly Message[]): [tool: string, shape: string][] {
  const tools = new Map<string, string>();
  const shapes: [string, string][] = [];
  for (const message of messages) {
    if (message.role === 'assistant')
      for (const call of message.tool_calls ?? []) tools.set(call.id, call.function.name);
    if (message.role !== 'tool') continue;
    const tool = tools.get(message.tool_call_id);
    if (tool === undefined) continue;
    let shape = 'text';
    try {
      shape = shapeOf(JSON.parse(message.content));
    } catch {
      // Not JSON.
    }
    shapes.push([tool, shape]);
  }
  return shapes;
}

/** Shapes that each tool of the target was seen to return. */
export function observedShapes(trajectories: readonly Trajectory[]): Map<string, Set<string>> {
  const observed = new Map<string, Set<string>>();
  for (const { messages } of trajectories)
    for (const [tool, shape] of resultShapes(messages))
      observed.set(tool, (observed.get(tool) ?? new Set()).add(shape));
  return observed;
}

/** An empty list says nothing of its elements: it fits every list of the same place. */
export function shapeFits(shape: string, observed: ReadonlySet<string>): boolean {
  if (observed.has(shape)) return true;
  const loose = (text: string) => text.replace(/\[[^[\]]*\]/g, '[]');
  return shape.includes('[]') && [...observed].some((other) => loose(other) === loose(shape));
}
