import { createHash } from 'node:crypto';
import { addInPlace, compare } from '../python/numbers.js';
import { validate } from '../python/schema.js';
import { equal, Float, numeric, str, typeError, valueError } from '../python/value.js';
import { type Functions, parameters, type ToolFunction } from '../toolkit.js';
import { type Bill, bill as billModel, lineItem } from './models.js';
import type { TelecomTools } from './toolkit.js';

/** Tools about bills. */

type Tool = ToolFunction<TelecomTools>;

const TODAY = '2025-02-25';
const LAST_MONTH = { first: '2025-01-01', last: '2025-01-31', due: '2025-01-15' } as const;
const NEXT_MONTH = { first: '2025-03-01', last: '2025-03-31', due: '2025-03-15' } as const;

function newBill(
  id: unknown,
  customerId: unknown,
  month: { readonly first: string; readonly last: string; readonly due: string },
  status: Bill['status'],
): Bill {
  return validate(
    billModel,
    new Map<string, unknown>([
      ['bill_id', id],
      ['customer_id', customerId],
      ['period_start', month.first],
      ['period_end', month.last],
      ['issue_date', month.first],
      ['total_due', 0],
      ['due_date', month.due],
      ['status', status],
    ]),
  );
}

function addItem(bill: Bill, description: string, amount: unknown, type: string): void {
  const item = validate(
    lineItem,
    new Map<string, unknown>([
      ['description', description],
      ['amount', amount],
      ['date', TODAY],
      ['item_type', type],
    ]),
  );
  bill.line_items.push(item);
  bill.total_due = addInPlace(bill.total_due, amount) as Float;
}

/** Puts a charge (or, below 0, a credit) on the customer's first draft bill; makes one where there is none. */
export function chargeOnce(
  kit: TelecomTools,
  customerId: unknown,
  amount: unknown,
  description: string,
): void {
  const customer = kit.customer(customerId);
  let draft = customer.bill_ids.map((id) => kit.bill(id)).find((bill) => bill.status === 'Draft');
  if (!draft) {
    // The benchmark draws a random id here; ours comes from what is known, so that runs repeat.
    const digest = createHash('sha256').update(`${str(customerId)}/${customer.bill_ids.join('/')}`);
    draft = newBill(`B${digest.digest('hex').slice(0, 8)}`, customerId, NEXT_MONTH, 'Draft');
    kit.bills.push(draft);
    customer.bill_ids.push(draft.bill_id);
  }
  addItem(draft, description, amount, compare('<', amount, 0) ? 'Credit' : 'Charge');
}

const getBills: Tool = {
  type: 'read',
  parameters: [{ name: 'customer_id' }, { name: 'limit', fallback: 12 }],
  run(kit, customerId, limit) {
    const bills = kit.customer(customerId).bill_ids.map((id) => kit.bill(id));
    // Newest first; bills of one day keep their order.
    bills.sort((a, b) => (a.issue_date < b.issue_date ? 1 : a.issue_date > b.issue_date ? -1 : 0));
    if (limit === null) return bills;
    if (limit instanceof Float || numeric(limit) === null)
      throw typeError('slice indices must be integers or None or have an __index__ method');
    return bills.slice(0, numeric(limit) as number);
  },
};

const sendPaymentRequest: Tool = {
  type: 'write',
  parameters: parameters('customer_id', 'bill_id'),
  run(kit, customerId, billId) {
    const customer = kit.customer(customerId);
    if (kit.billsAwaitingPayment(customer).length > 0)
      throw valueError('A bill is already awaiting payment for this customer');
    if (!customer.bill_ids.some((id) => equal(id, billId)))
      throw valueError(`Bill ${str(billId)} not found for customer ${str(customerId)}`);
    const bill = kit.bill(billId);
    // Whether it is paid already is not looked at.
    bill.status = 'Awaiting Payment';
    return `Payment request sent to the customer for bill ${bill.bill_id}`;
  },
};

const suspendForOverdueBill: Tool = {
  parameters: parameters('customer_id', 'line_id', 'new_bill_id', 'contract_ended'),
  run(kit, customerId, lineId, billId, contractEnded) {
    const line = kit.line(lineId);
    if (line.status !== 'Active') throw valueError('Line must be active to suspend for unpaid bill');
    const amount = kit.plan(line.plan_id).price_per_month;
    if (amount.value <= 0) throw valueError('Amount must be positive for overdue bill');
    const customer = kit.customer(customerId);
    if (customer.bill_ids.some((id) => kit.bill(id).status === 'Overdue'))
      throw valueError('Customer already has an overdue bill');
    const overdue = newBill(billId, customerId, LAST_MONTH, 'Overdue');
    addItem(overdue, `Charge for line ${line.line_id}`, amount, 'Charge');
    kit.bills.push(overdue);
    customer.bill_ids.push(overdue.bill_id);
    line.status = 'Suspended';
    line.suspension_start_date = TODAY;
    if (contractEnded) line.contract_end_date = LAST_MONTH.last;
    return `Line ${str(lineId)} suspended for unpaid bill ${str(billId)}. Contract ended: ${str(contractEnded)}`;
  },
};

export const billing: Functions<TelecomTools> = {
  get_bills_for_customer: getBills,
  send_payment_request: sendPaymentRequest,
  suspend_line_for_overdue_bill: suspendForOverdueBill,
};

export const assertOverdueBillExists: Tool = {
  parameters: parameters('customer_id', 'overdue_bill_id'),
  run(kit, customerId, billId) {
    const customer = kit.customer(customerId);
    if (!customer.bill_ids.some((id) => equal(id, billId)))
      throw valueError(`Overdue bill ${str(billId)} not found`);
    if (kit.bill(billId).status !== 'Overdue') throw valueError(`Overdue bill ${str(billId)} is not overdue`);
    return true;
  },
};

export const assertNoOverdueBill: Tool = {
  parameters: parameters('overdue_bill_id'),
  run(kit, billId) {
    const bill = kit.bills.find((candidate) => candidate.bill_id === billId);
    return bill === undefined || bill.status === 'Paid';
  },
};
