import { validate } from '../python/schema.js';
import { valueError } from '../python/value.js';
import { parameters, type ToolFunction } from '../toolkit.js';
import { address } from './models.js';
import type { RetailTools } from './toolkit.js';

/** Tools that change an address. */

const LINES = ['address1', 'address2', 'city', 'state', 'country', 'zip'];

/** The address of the values of `LINES`. @throws PythonError for what is no string. */
const readAddress = (values: readonly unknown[]) =>
  validate(address, new Map(LINES.map((line, i) => [line, values[i]])));

export const modifyOrderAddress: ToolFunction<RetailTools> = {
  type: 'write',
  parameters: parameters('order_id', ...LINES),
  run(kit, id, ...values) {
    const order = kit.order(id);
    if (!order.status.includes('pending')) throw valueError('Non-pending order cannot be modified');
    order.address = readAddress(values);
    return order;
  },
};

export const modifyUserAddress: ToolFunction<RetailTools> = {
  type: 'write',
  parameters: parameters('user_id', ...LINES),
  run(kit, id, ...values) {
    const user = kit.user(id);
    user.address = readAddress(values);
    return user;
  },
};
