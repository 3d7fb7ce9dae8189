import type { Database } from '../database.js';
import { calculate } from '../python/expression.js';
import { dumps } from '../python/json.js';
import { hashable, valueError } from '../python/value.js';
import type { Table } from '../table.js';
import { type Functions, parameters, Toolkit } from '../toolkit.js';
import { modifyOrderAddress, modifyUserAddress } from './addresses.js';
import { exchangeDeliveredItems, returnDeliveredItems } from './delivered.js';
import type { Order, PaymentMethod, Product, RetailData, User, Variant } from './models.js';
import { cancelPendingOrder, modifyPendingItems, modifyPendingPayment } from './pending.js';
import { findByEmail, findByNameZip } from './users.js';

/** The retail agent's tools. */
export class RetailTools extends Toolkit {
  override readonly name = 'RetailTools';
  override readonly functions = FUNCTIONS as Functions<never>;

  constructor(db: Database<RetailData>) {
    super(db);
  }

  get products(): Table<Product> {
    return this.part('products');
  }
  get users(): Table<User> {
    return this.part('users');
  }
  get orders(): Table<Order> {
    return this.part('orders');
  }

  /** The order, to be changed. */
  order(id: unknown): Order {
    if (!this.orders.has(id)) throw valueError('Order not found');
    return this.orders.get(id);
  }

  /** The user, to be changed. */
  user(id: unknown): User {
    if (!this.users.has(id)) throw valueError('User not found');
    return this.users.get(id);
  }

  /** The product, only to be read. */
  product(id: unknown): Product {
    if (!this.products.has(id)) throw valueError('Product not found');
    return this.products.peek(id);
  }

  variant(productId: string, id: unknown): Variant {
    const { variants } = this.product(productId);
    const key = hashable(id);
    const found = key === null ? undefined : variants.get(key);
    if (!found) throw valueError('Variant not found');
    return found;
  }

  /** A payment method of a user, to be changed. */
  paymentMethod(userId: string, id: unknown): PaymentMethod {
    const { payment_methods } = this.user(userId);
    const key = hashable(id);
    const found = key === null ? undefined : payment_methods.get(key);
    if (!found) throw valueError('Payment method not found');
    return found;
  }
}

const look = (table: 'orders' | 'users' | 'products', parameter: string, missing: string) => ({
  type: 'read' as const,
  parameters: parameters(parameter),
  run: (kit: RetailTools, id: unknown): object => {
    if (!kit[table].has(id)) throw valueError(missing);
    return kit[table].peek(id);
  },
});

const FUNCTIONS: Functions<RetailTools> = {
  calculate: {
    type: 'generic',
    parameters: parameters('expression'),
    run: (_, expression) => calculate(expression),
  },
  cancel_pending_order: cancelPendingOrder,
  exchange_delivered_order_items: exchangeDeliveredItems,
  find_user_id_by_name_zip: findByNameZip,
  find_user_id_by_email: findByEmail,
  get_order_details: look('orders', 'order_id', 'Order not found'),
  get_product_details: look('products', 'product_id', 'Product not found'),
  get_item_details: {
    type: 'read',
    parameters: parameters('item_id'),
    run(kit, id) {
      const key = hashable(id);
      const product = kit.products.values().find(({ variants }) => key !== null && variants.has(key));
      if (!product) throw valueError('Item not found');
      return product.variants.get(key as string);
    },
  },
  get_user_details: look('users', 'user_id', 'User not found'),
  list_all_product_types: {
    type: 'read',
    parameters: [],
    run: (kit) =>
      dumps(new Map(kit.products.values().map(({ name, product_id }) => [name, product_id])), true),
  },
  modify_pending_order_address: modifyOrderAddress,
  modify_pending_order_items: modifyPendingItems,
  modify_pending_order_payment: modifyPendingPayment,
  modify_user_address: modifyUserAddress,
  return_delivered_order_items: returnDeliveredItems,
  transfer_to_human_agents: {
    type: 'generic',
    parameters: parameters('summary'),
    run: () => 'Transfer successful',
  },
};
