import { compare, round2 } from '../python/numbers.js';
import { Float, valueError } from '../python/value.js';
import { parameters, type ToolFunction } from '../toolkit.js';
import { checkItems, checkLengths, replacement, sorted } from './items.js';
import { isGiftCard } from './models.js';
import type { RetailTools } from './toolkit.js';

/** Tools that take delivered orders back. */

type Tool = ToolFunction<RetailTools>;

export const exchangeDeliveredItems: Tool = {
  type: 'write',
  parameters: parameters('order_id', 'item_ids', 'new_item_ids', 'payment_method_id'),
  run(kit, id, oldIds, newIds, methodId) {
    const order = kit.order(id);
    if (order.status !== 'delivered') throw valueError('Non-delivered order cannot be exchanged');
    checkItems(order, oldIds, (item) => `Number of ${item} not found.`);
    checkLengths(oldIds, newIds, 'The number of items to be exchanged should match.');
    const { difference } = replacement(kit, order, oldIds, newIds, true);
    const rounded = difference instanceof Float ? new Float(round2(difference.value)) : difference;
    const method = kit.paymentMethod(order.user_id, methodId);
    if (isGiftCard(method) && compare('<', method.balance, rounded))
      throw valueError('Insufficient gift card balance to pay for the price difference');
    // Kept: the difference is noted, nothing is paid.
    order.status = 'exchange requested';
    order.exchange_items = sorted(oldIds);
    order.exchange_new_items = sorted(newIds);
    order.exchange_payment_method_id = methodId as string;
    order.exchange_price_difference = rounded as Float;
    return order;
  },
};

export const returnDeliveredItems: Tool = {
  type: 'write',
  parameters: parameters('order_id', 'item_ids', 'payment_method_id'),
  run(kit, id, itemIds, methodId) {
    const order = kit.order(id);
    if (order.status !== 'delivered') throw valueError('Non-delivered order cannot be returned');
    const method = kit.paymentMethod(kit.user(order.user_id).user_id, methodId);
    if (!isGiftCard(method)) {
      const [first] = order.payment_history;
      if (methodId !== first?.payment_method_id)
        throw valueError('Payment method should be the original payment method');
    }
    checkItems(order, itemIds, () => 'Some item not found');
    order.status = 'return requested';
    order.return_items = sorted(itemIds);
    order.return_payment_method_id = methodId as string;
    return order;
  },
};
