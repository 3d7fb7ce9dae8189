import { compare, subtract } from '../python/numbers.js';
import { validate } from '../python/schema.js';
import { equal, type Float, hashable, keyError, str, valueError } from '../python/value.js';
import { type Payment, type PaymentMethod, payment, type User } from './models.js';

/** What pays for reservations: gift cards, certificates, credit cards. */

function methodOf(user: User, id: unknown): PaymentMethod | undefined {
  const key = hashable(id);
  return key === null ? undefined : user.payment_methods.get(key);
}

/** Takes the price of an update from a payment method; the payment to note, null where the price is 0. */
export function payForUpdate(user: User, paymentId: unknown, price: unknown): Payment | null {
  const method = methodOf(user, paymentId);
  if (!method) throw valueError('Payment method not found');
  if (method.source === 'certificate') throw valueError('Certificate cannot be used to update reservation');
  if (method.source === 'gift_card') {
    if (compare('<', method.amount, price)) throw valueError('Gift card balance is not enough');
    method.amount = subtract(method.amount, price) as Float;
  }
  if (equal(price, 0)) return null;
  return validate(
    payment,
    new Map([
      ['payment_id', paymentId],
      ['amount', price],
    ]),
  );
}

/** Checks that the payments exist, suffice and add up; then takes them. */
export function settle(user: User, payments: readonly Payment[], price: unknown): void {
  for (const { payment_id, amount } of payments) {
    const method = methodOf(user, payment_id);
    if (!method) throw valueError(`Payment method ${payment_id} not found`);
    if (method.source !== 'credit_card' && compare('<', method.amount, amount))
      throw valueError(`Not enough balance in payment method ${payment_id}`);
  }
  const paid = payments.reduce((sum, { amount }) => sum + amount, 0);
  if (!equal(paid, price))
    throw valueError(`Payment amount does not add up, total price is ${str(price)}, but paid ${str(paid)}`);
  for (const { payment_id, amount } of payments) {
    const method = methodOf(user, payment_id);
    // A certificate named twice is gone the second time.
    if (!method) throw keyError(payment_id);
    if (method.source === 'gift_card') method.amount = subtract(method.amount, amount) as Float;
    else if (method.source === 'certificate') user.payment_methods.delete(payment_id);
  }
}
