import type { Database } from '../database.js';
import { calculate } from '../python/expression.js';
import { str, valueError } from '../python/value.js';
import type { Table } from '../table.js';
import { type Functions, parameters, type ToolFunction, Toolkit } from '../toolkit.js';
import {
  dayOf,
  getFlightStatus,
  listAllAirports,
  searchDirectFlight,
  searchOnestopFlight,
} from './flights.js';
import type { AirlineData, Flight, FlightDay, Reservation, User } from './models.js';
import {
  bookReservation,
  cancelReservation,
  sendCertificate,
  updateBaggages,
  updateFlights,
  updatePassengers,
} from './reservations.js';

/** The airline agent's tools. */
export class AirlineTools extends Toolkit {
  override readonly name = 'AirlineTools';
  override readonly functions = FUNCTIONS as Functions<never>;

  constructor(db: Database<AirlineData>) {
    super(db);
  }

  get flights(): Table<Flight> {
    return this.part('flights');
  }
  get users(): Table<User> {
    return this.part('users');
  }
  get reservations(): Table<Reservation> {
    return this.part('reservations');
  }

  /** The user, to be changed. */
  user(id: unknown): User {
    if (!this.users.has(id)) throw valueError(`User ${str(id)} not found`);
    return this.users.get(id);
  }

  /** The reservation, to be changed. */
  reservation(id: unknown): Reservation {
    if (!this.reservations.has(id)) throw valueError(`Reservation ${str(id)} not found`);
    return this.reservations.get(id);
  }

  /** The flight, only to be read. */
  flight(number: unknown): Flight {
    if (!this.flights.has(number)) throw valueError(`Flight ${str(number)} not found`);
    return this.flights.peek(number);
  }

  /** The flight on a day, only to be read. */
  flightDay(number: unknown, date: unknown): FlightDay {
    return dayOf(this.flight(number), date);
  }
}

type Tool = ToolFunction<AirlineTools>;

const FUNCTIONS: Functions<AirlineTools> = {
  book_reservation: bookReservation,
  calculate: {
    type: 'generic',
    parameters: parameters('expression'),
    run: (_, expression) => calculate(expression),
  },
  cancel_reservation: cancelReservation,
  get_reservation_details: {
    type: 'read',
    parameters: parameters('reservation_id'),
    run: (kit, id) => {
      if (!kit.reservations.has(id)) throw valueError(`Reservation ${str(id)} not found`);
      return kit.reservations.peek(id);
    },
  } satisfies Tool,
  get_user_details: {
    type: 'read',
    parameters: parameters('user_id'),
    run: (kit, id) => {
      if (!kit.users.has(id)) throw valueError(`User ${str(id)} not found`);
      return kit.users.peek(id);
    },
  } satisfies Tool,
  list_all_airports: listAllAirports,
  search_direct_flight: searchDirectFlight,
  search_onestop_flight: searchOnestopFlight,
  send_certificate: sendCertificate,
  transfer_to_human_agents: {
    type: 'generic',
    parameters: parameters('summary'),
    run: () => 'Transfer successful',
  },
  update_reservation_baggages: updateBaggages,
  update_reservation_flights: updateFlights,
  update_reservation_passengers: updatePassengers,
  get_flight_status: getFlightStatus,
};
