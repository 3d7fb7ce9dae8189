import { valueError } from '../python/value.js';
import type { Toolkit } from '../toolkit.js';
import { dataExceeded } from './lines.js';
import { TelecomTools } from './toolkit.js';
import { TelecomUserTools } from './user-toolkit.js';

/**
 * What the company knows reaches the phone, and what the customer pays reaches the company: line and roaming
 * state, exhausted data, payment requests.
 * @throws PythonError for a phone number without a line.
 */
export function coupleTelecom(agent: Toolkit, user: Toolkit | null): void {
  if (!(agent instanceof TelecomTools) || !(user instanceof TelecomUserTools))
    throw valueError('telecom needs both of its sides');
  const { surroundings } = user;
  const number = surroundings.phone_number;
  if (number === null) return;
  const line = agent.lineByPhone(number);
  surroundings.line_active = line.status === 'Active';
  surroundings.roaming_allowed = line.roaming_enabled;
  surroundings.mobile_data_usage_exceeded = dataExceeded(agent, line);
  if (surroundings.payment_request?.paid) {
    agent.bill(surroundings.payment_request.bill_id).status = 'Paid';
    surroundings.payment_request = null;
  }
  if (surroundings.payment_request !== null) return;
  const [bill] = agent.billsAwaitingPayment(agent.customerByPhone(number));
  if (bill) surroundings.payment_request = { bill_id: bill.bill_id, amount_due: bill.total_due, paid: false };
}
