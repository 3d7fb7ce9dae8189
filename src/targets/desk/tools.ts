import type { ToolKind, ToolSchema } from '../../trajectory/trajectory.js';

/** Every argument of every desk tool is a string. */
type DeskArgument = 'user' | 'order' | 'name' | 'item' | 'variant' | 'payment' | 'address';

const DESCRIPTIONS: { readonly [argument in DeskArgument]: string } = {
  user: 'User id, such as k07.',
  order: 'Order id, such as k30.',
  name: 'Product name, such as lamp.',
  item: 'Item of the order as get_order lists it, such as lamp:k17.',
  variant: 'Variant as get_product lists it, without the price, such as blue-L:k52.',
  payment: 'Payment method, such as card-3.',
  address: 'Delivery address, such as 5 Oak Street.',
};

function tool(name: string, description: string, parameters: readonly DeskArgument[]): ToolSchema {
  return {
    type: 'function',
    function: {
      name,
      description,
      parameters: {
        type: 'object',
        properties: Object.fromEntries(
          parameters.map((argument) => [argument, { type: 'string', description: DESCRIPTIONS[argument] }]),
        ),
        required: [...parameters],
        additionalProperties: false,
      },
    },
  };
}

/**
 * The tools of desk as OpenAI function tools. Results are JSON text of these shapes:
 *
 * - get_user     `{"payments":["card-3","gift-7"]}`
 * - get_order    `{"status":"delivered","payment":"gift-7","items":["lamp:k17","mug:k44"]}`
 * - get_product  `{"variants":["$4 blue-L:k52","$2 red-S:k08"]}`
 * - writes and transfer  `{"ok":true}`
 * - anything that does not exist  `{"error":"not found"}`
 */
export const DESK_TOOLS: readonly ToolSchema[] = [
  tool('get_user', 'Reads a user: payment methods on file.', ['user']),
  tool('get_order', 'Reads an order: status, original payment, items.', ['order']),
  tool('get_product', 'Reads a product: its variants with price, colour, size and id.', ['name']),
  tool('cancel_order', 'Cancels a pending order.', ['order']),
  tool('return_item', 'Returns an item of a delivered order.', ['order', 'item', 'payment']),
  tool('exchange_item', 'Exchanges an item of a delivered order for another variant of the product.', [
    'order',
    'variant',
    'item',
    'payment',
  ]),
  tool('update_address', 'Sets the delivery address of a pending order.', ['order', 'address']),
  tool('transfer', 'Hands the request about an order over to a human.', ['order']),
];

/** `transfer` hands one request over and the conversation goes on. */
export const DESK_TOOL_KINDS: { readonly [tool: string]: ToolKind } = {
  get_user: 'read',
  get_order: 'read',
  get_product: 'read',
  cancel_order: 'write',
  return_item: 'write',
  exchange_item: 'write',
  update_address: 'write',
  transfer: 'handover',
};
