import { absolute, addInPlace, compare, round2, subtract } from '../python/numbers.js';
import { validate } from '../python/schema.js';
import { Float, hashable, numeric, valueError } from '../python/value.js';
import { parameters, type ToolFunction } from '../toolkit.js';
import { checkItems, checkLengths, replacement } from './items.js';
import { type GiftCard, isGiftCard, type OrderPayment, orderPayment } from './models.js';
import type { RetailTools } from './toolkit.js';

/** Tools that change pending orders. */

type Tool = ToolFunction<RetailTools>;

const paymentOf = (type: 'payment' | 'refund', amount: unknown, method: unknown): OrderPayment =>
  validate(
    orderPayment,
    new Map<string, unknown>([
      ['transaction_type', type],
      ['amount', amount],
      ['payment_method_id', method],
    ]),
  );

/** Adds to a gift card's balance, rounded to cents as after every change. */
function credit(card: GiftCard, amount: number | Float, sign: 1 | -1): void {
  const change = sign === 1 ? addInPlace : subtract;
  card.balance = new Float(round2(numeric(change(card.balance, amount)) as number));
}

export const cancelPendingOrder: Tool = {
  type: 'write',
  parameters: parameters('order_id', 'reason'),
  run(kit, id, reason) {
    const order = kit.order(id);
    if (order.status !== 'pending') throw valueError('Non-pending order cannot be cancelled');
    const known = hashable(reason);
    if (known !== 'no longer needed' && known !== 'ordered by mistake') throw valueError('Invalid reason');
    const refunds = order.payment_history.map(({ amount, payment_method_id }) => {
      const method = kit.paymentMethod(kit.user(order.user_id).user_id, payment_method_id);
      if (isGiftCard(method)) credit(method, amount, 1);
      return paymentOf('refund', amount, payment_method_id);
    });
    order.status = 'cancelled';
    order.cancel_reason = known;
    order.payment_history.push(...refunds);
    return order;
  },
};

export const modifyPendingItems: Tool = {
  type: 'write',
  parameters: parameters('order_id', 'item_ids', 'new_item_ids', 'payment_method_id'),
  run(kit, id, oldIds, newIds, methodId) {
    const order = kit.order(id);
    if (order.status !== 'pending') throw valueError('Non-pending order cannot be modified');
    checkItems(order, oldIds, (item) => `${item} not found`);
    checkLengths(oldIds, newIds, 'The number of items to be exchanged should match');
    const { pairs, difference, last } = replacement(kit, order, oldIds, newIds, false);
    const method = kit.paymentMethod(order.user_id, methodId);
    if (isGiftCard(method) && compare('<', method.balance, difference))
      throw valueError('Insufficient gift card balance to pay for the new item');
    // The difference is not rounded here, unlike in an exchange.
    const type = compare('>', difference, 0) ? 'payment' : 'refund';
    order.payment_history.push(paymentOf(type, absolute(difference), methodId));
    if (isGiftCard(method)) credit(method, difference, -1);
    for (const [oldId, newId] of pairs) {
      const item = order.items.find(({ item_id }) => item_id === oldId);
      // Of a twice named item, the first replacement may already be in place.
      if (!item) throw valueError(`Item ${String(oldId)} not found`);
      item.item_id = newId as string;
      // Kept: every item gets the price and options of the last new one; golden hashes depend on it.
      item.price = (last as NonNullable<typeof last>).price;
      item.options = (last as NonNullable<typeof last>).options;
    }
    order.status = 'pending (item modified)';
    return order;
  },
};

export const modifyPendingPayment: Tool = {
  type: 'write',
  parameters: parameters('order_id', 'payment_method_id'),
  run(kit, id, methodId) {
    const order = kit.order(id);
    if (!order.status.includes('pending')) throw valueError('Non-pending order cannot be modified');
    const method = kit.paymentMethod(order.user_id, methodId);
    const [first, ...others] = order.payment_history;
    if (!first || others.length > 0 || first.transaction_type !== 'payment')
      throw valueError('There should be exactly one payment for a pending order');
    if (first.payment_method_id === methodId)
      throw valueError('The new payment method should be different from the current one');
    const { amount } = first;
    if (isGiftCard(method) && compare('<', method.balance, amount))
      throw valueError('Insufficient gift card balance to pay for the order');
    order.payment_history.push(
      paymentOf('payment', amount, methodId),
      paymentOf('refund', amount, first.payment_method_id),
    );
    if (isGiftCard(method)) credit(method, amount, -1);
    const old = kit.paymentMethod(order.user_id, first.payment_method_id);
    if (isGiftCard(old)) credit(old, amount, 1);
    return order;
  },
};
