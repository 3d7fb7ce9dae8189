import { asString, valueError } from '../python/value.js';
import { parameters, type ToolFunction } from '../toolkit.js';
import type { RetailTools } from './toolkit.js';

/** Tools that find a user. */

export const findByNameZip: ToolFunction<RetailTools> = {
  type: 'read',
  parameters: parameters('first_name', 'last_name', 'zip'),
  run(kit, first, last, zip) {
    const found = kit.users.values().find(
      ({ name, address }) =>
        // In this order, as Python evaluates: a last name that is no string matters only where the first fits.
        name.first_name.toLowerCase() === asString(first, 'lower').toLowerCase() &&
        name.last_name.toLowerCase() === asString(last, 'lower').toLowerCase() &&
        address.zip === zip,
    );
    if (!found) throw valueError('User not found');
    return found.user_id;
  },
};

export const findByEmail: ToolFunction<RetailTools> = {
  type: 'read',
  parameters: parameters('email'),
  run(kit, email) {
    const found = kit.users
      .values()
      .find((user) => user.email.toLowerCase() === asString(email, 'lower').toLowerCase());
    if (!found) throw valueError('User not found');
    return found.user_id;
  },
};
