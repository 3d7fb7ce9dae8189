import type { Reference, ReferenceAction } from '../../trajectory/trajectory.js';
import { type DeskRequest, type DeskScenario, itemRef, variantRef } from './scenario.js';
import { DESK_TOOL_KINDS } from './tools.js';
import { reportFact } from './wording.js';
import { OUTCOMES } from './words.js';

function action(name: string, args: { readonly [name: string]: string }): ReferenceAction {
  return { name, arguments: args, kind: DESK_TOOL_KINDS[name] as ReferenceAction['kind'] };
}

/** The write (or hand-over) that a request ends with under the policy. */
export function goldenWrite(request: DeskRequest): ReferenceAction {
  const { kind, order, payment } = request;
  if (!request.allowed) return action('transfer', { order });
  switch (kind) {
    case 'cancel':
      return action('cancel_order', { order });
    case 'address':
      return action('update_address', { order, address: request.address as string });
    case 'return':
      return action('return_item', { order, item: itemRef(request.item), payment });
    case 'exchange': {
      const variant = variantRef(request.variant as NonNullable<typeof request.variant>);
      return action('exchange_item', { order, variant, item: itemRef(request.item), payment });
    }
  }
}

/** What has to be reported of a request. */
export function requiredFact(request: DeskRequest): string {
  return reportFact(request.order, OUTCOMES[request.allowed ? request.kind : 'transfer']);
}

/** The golden calls in order, reads included, and the facts to say. */
export function deskReference(scenario: DeskScenario): Reference {
  const actions = [action('get_user', { user: scenario.user })];
  for (const request of scenario.requests) {
    actions.push(action('get_order', { order: request.order }));
    if (request.allowed && request.kind === 'exchange')
      actions.push(action('get_product', { name: request.item.name }));
    actions.push(goldenWrite(request));
  }
  return {
    actions,
    requiredFacts: scenario.requests.map(requiredFact),
    toolKinds: DESK_TOOL_KINDS,
  };
}
