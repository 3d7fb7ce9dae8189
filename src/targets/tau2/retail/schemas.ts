import type { ToolSchema } from '../../../trajectory/trajectory.js';
import { CALCULATE, schema, TRANSFER, text, texts } from '../tool-schema.js';

const user = text('User id, such as sara_doe_496.');
const order = text('Order id, such as #W0000000, with the # in front.');
const payment = text("Id of a payment method in the user's profile, such as gift_card_0000000.");
const lines = {
  address1: text('First line of the address.'),
  address2: text('Second line of the address; empty where there is none.'),
  city: text('City.'),
  state: text('State, such as CA.'),
  country: text('Country, such as USA.'),
  zip: text('Zip code, such as 12345.'),
};
const oldItems = texts('Item ids of the order; one that is there twice may be named twice.');
const newItems = texts('Item ids to have instead, of the same products, in the same order.');

/** The retail agent's tools, for a model. */
export const RETAIL_SCHEMAS: readonly ToolSchema[] = [
  CALCULATE,
  schema('cancel_pending_order', 'Cancel a pending order and refund it. The user has to have confirmed.', {
    order_id: order,
    reason: text('Either "no longer needed" or "ordered by mistake".'),
  }),
  schema(
    'exchange_delivered_order_items',
    'Exchange items of a delivered order, once an order. The user has to have confirmed.',
    { order_id: order, item_ids: oldItems, new_item_ids: newItems, payment_method_id: payment },
  ),
  schema('find_user_id_by_name_zip', 'Find a user id by name and zip code, where the email does not help.', {
    first_name: text('First name.'),
    last_name: text('Last name.'),
    zip: text('Zip code, such as 12345.'),
  }),
  schema('find_user_id_by_email', 'Find a user id by email.', { email: text('Email address.') }),
  schema('get_order_details', 'Look an order up.', { order_id: order }),
  schema('get_product_details', 'Look a product up, with its variants, prices and stock.', {
    product_id: text('Product id, such as 6086499569; not an item id.'),
  }),
  schema('get_item_details', 'Look one variant of a product up.', {
    item_id: text('Item id, such as 1008292230; not a product id.'),
  }),
  schema('get_user_details', 'Look a user up, with payment methods and order ids.', { user_id: user }),
  schema('list_all_product_types', 'List the names of all products with their product ids.'),
  schema(
    'modify_pending_order_address',
    'Change where a pending order is sent. The user has to have confirmed.',
    { order_id: order, ...lines },
  ),
  schema(
    'modify_pending_order_items',
    'Replace items of a pending order by others of the same products, once an order. The user has to have confirmed.',
    { order_id: order, item_ids: oldItems, new_item_ids: newItems, payment_method_id: payment },
  ),
  schema(
    'modify_pending_order_payment',
    'Change what a pending order is paid with. The user has to have confirmed.',
    { order_id: order, payment_method_id: payment },
  ),
  schema('modify_user_address', "Change a user's own address. The user has to have confirmed.", {
    user_id: user,
    ...lines,
  }),
  schema(
    'return_delivered_order_items',
    'Take items of a delivered order back, once an order. The user has to have confirmed.',
    { order_id: order, item_ids: oldItems, payment_method_id: payment },
  ),
  TRANSFER,
];
