import { asString, equal, str, valueError } from '../python/value.js';
import { type Functions, parameters, type ToolFunction, Toolkit } from '../toolkit.js';
import { assertNoOverdueBill, assertOverdueBillExists, billing } from './billing.js';
import { lines } from './lines.js';
import type { Bill, Customer, Device, Line, Plan } from './models.js';

/** The telecom agent's tools. */
export class TelecomTools extends Toolkit {
  override readonly name = 'TelecomTools';
  override readonly functions = FUNCTIONS as Functions<never>;

  get customers(): Customer[] {
    return this.part('customers');
  }
  get lines(): Line[] {
    return this.part('lines');
  }
  get bills(): Bill[] {
    return this.part('bills');
  }

  customer(id: unknown): Customer {
    const found = this.customers.find((customer) => customer.customer_id === id);
    if (!found) throw valueError(`Customer with ID ${str(id)} not found`);
    return found;
  }

  customerByPhone(number: unknown): Customer {
    for (const customer of this.customers) {
      if (customer.phone_number === number) return customer;
      if (customer.line_ids.some((id) => this.line(id).phone_number === number)) return customer;
    }
    throw valueError(`Customer with phone number ${str(number)} not found`);
  }

  line(id: unknown): Line {
    const found = this.lines.find((line) => line.line_id === id);
    if (!found) throw valueError(`Line with ID ${str(id)} not found`);
    return found;
  }

  lineByPhone(number: unknown): Line {
    const found = this.lines.find((line) => line.phone_number === number);
    if (!found) throw valueError(`Line with phone number ${str(number)} not found`);
    return found;
  }

  plan(id: unknown): Plan {
    const found = this.part<Plan[]>('plans').find((plan) => plan.plan_id === id);
    if (!found) throw valueError(`Plan with ID ${str(id)} not found`);
    return found;
  }

  device(id: unknown): Device {
    const found = this.part<Device[]>('devices').find((device) => device.device_id === id);
    if (!found) throw valueError(`Device with ID ${str(id)} not found`);
    return found;
  }

  bill(id: unknown): Bill {
    const found = this.bills.find((bill) => bill.bill_id === id);
    if (!found) throw valueError(`Bill with ID ${str(id)} not found`);
    return found;
  }

  /** A line that the customer owns. */
  lineOf(customerId: unknown, lineId: unknown): Line {
    const customer = this.customer(customerId);
    if (!customer.line_ids.some((id) => equal(id, lineId)))
      throw valueError(`Line ${str(lineId)} not found for customer ${str(customerId)}`);
    return this.line(lineId);
  }

  billsAwaitingPayment(customer: Customer): Bill[] {
    return customer.bill_ids.map((id) => this.bill(id)).filter((bill) => bill.status === 'Awaiting Payment');
  }
}

type Tool = ToolFunction<TelecomTools>;

const getCustomerByName: Tool = {
  type: 'read',
  parameters: parameters('full_name', 'dob'),
  run: (kit, name, birth) =>
    kit.customers.filter(
      (customer) =>
        customer.full_name.toLowerCase() === asString(name, 'lower').toLowerCase() &&
        customer.date_of_birth === birth,
    ),
};

const getDetailsById: Tool = {
  type: 'read',
  parameters: parameters('id'),
  run(kit, id) {
    // The first letter tells what it is.
    switch (asString(id, 'startswith')[0]) {
      case 'L':
        return kit.line(id);
      case 'D':
        return kit.device(id);
      case 'B':
        return kit.bill(id);
      case 'C':
        return kit.customer(id);
      case 'P':
        return kit.plan(id);
      default:
        throw valueError(`Unknown ID format or type: ${str(id)}`);
    }
  },
};

const FUNCTIONS: Functions<TelecomTools> = {
  get_customer_by_phone: {
    type: 'read',
    parameters: parameters('phone_number'),
    run: (kit, number) => kit.customerByPhone(number),
  },
  get_customer_by_id: {
    type: 'read',
    parameters: parameters('customer_id'),
    run: (kit, id) => kit.customer(id),
  },
  get_customer_by_name: getCustomerByName,
  get_details_by_id: getDetailsById,
  ...lines,
  ...billing,
  transfer_to_human_agents: {
    type: 'generic',
    parameters: parameters('summary'),
    run: () => 'Transfer successful',
  },
  assert_overdue_bill_exists: assertOverdueBillExists,
  assert_no_overdue_bill: assertNoOverdueBill,
};
