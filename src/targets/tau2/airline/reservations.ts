import { addInPlace, multiply, negate, subtract } from '../python/numbers.js';
import { type Model, validate } from '../python/schema.js';
import {
  attributeError,
  type Dict,
  deepCopy,
  equal,
  hashable,
  isDict,
  iterate,
  keyError,
  len,
  numeric,
  str,
  typeName,
  valueError,
} from '../python/value.js';
import { parameters, type ToolFunction } from '../toolkit.js';
import { dayOf } from './flights.js';
import {
  certificate,
  flightInfo,
  type Payment,
  passenger,
  payment,
  type ReservationFlight,
  reservation,
} from './models.js';
import { payForUpdate, settle } from './payments.js';
import type { AirlineTools } from './toolkit.js';

/** Tools that change reservations and what pays for them. */

type Tool = ToolFunction<AirlineTools>;

/** Models of a list whose items are all dicts; any other value stays as it is and fails where it is used. */
function modelsOf<T>(schema: Model<T>, value: unknown): unknown {
  const items = iterate(value);
  return items.every(isDict) ? items.map((item) => validate(schema, item as Dict)) : value;
}

/** `value.name` of what should be a model. */
function attribute(value: unknown, name: string): unknown {
  if (typeName(value) !== 'object') throw attributeError(typeName(value), name);
  return (value as { readonly [name: string]: unknown })[name];
}

/** `mapping[cabin]`: a KeyError for a cabin that does not exist. */
function ofCabin(values: Map<string, number>, cabin: unknown): number {
  const key = hashable(cabin);
  const found = key === null ? undefined : values.get(key);
  if (found === undefined) throw keyError(cabin);
  return found;
}

interface Priced {
  readonly flights: ReservationFlight[];
  readonly total: unknown;
}

export const bookReservation: Tool = {
  type: 'write',
  parameters: parameters(
    'user_id',
    'origin',
    'destination',
    'flight_type',
    'cabin',
    'flights',
    'passengers',
    'payment_methods',
    'total_baggages',
    'nonfree_baggages',
    'insurance',
  ),
  run(kit, userId, origin, destination, flightType, cabin, flightsArg, passengersArg, paymentsArg, ...rest) {
    const [total, nonfree, insurance] = rest;
    const flights = modelsOf(flightInfo, flightsArg);
    const passengers = modelsOf(passenger, passengersArg);
    const payments = modelsOf(payment, paymentsArg);
    const user = kit.user(userId);
    const id = ['HATHAT', 'HATHAU', 'HATHAV'].find((candidate) => !kit.reservations.has(candidate));
    if (!id) throw valueError('Too many reservations');
    const booked = validate(
      reservation,
      new Map<string, unknown>([
        ['reservation_id', id],
        ['user_id', userId],
        ['origin', origin],
        ['destination', destination],
        ['flight_type', flightType],
        ['cabin', cabin],
        ['flights', []],
        ['passengers', deepCopy(passengers)],
        ['payment_history', deepCopy(payments)],
        ['created_at', '2024-05-15T15:00:00'],
        ['total_baggages', total],
        ['nonfree_baggages', nonfree],
        ['insurance', insurance],
      ]),
    );
    const people = len(passengers);
    const priced = priceFlights(kit, iterate(flights), cabin, people);
    booked.flights.push(...priced.flights);
    let price = priced.total;
    if (insurance === 'yes') price = addInPlace(price, 30 * people);
    price = addInPlace(price, multiply(50, nonfree));
    settle(user, payments as Payment[], price);
    for (const { flight_number, date } of priced.flights) {
      const seats = dayOf(kit.flights.get(flight_number), date).available_seats as Map<string, number>;
      seats.set(cabin as string, ofCabin(seats, cabin) - people);
    }
    kit.reservations.set(id, booked);
    user.reservations.push(id);
    return booked;
  },
};

/** Looks every flight up, checks seats, and adds the fares of all passengers. */
function priceFlights(
  kit: AirlineTools,
  flights: readonly unknown[],
  cabin: unknown,
  people: number,
): Priced {
  const found: ReservationFlight[] = [];
  let total = 0;
  for (const info of flights) {
    const number = attribute(info, 'flight_number');
    const flight = kit.flight(number);
    const date = attribute(info, 'date');
    const priced = reservationFlight(kit, flight.flight_number, date, cabin, people);
    total += priced.price * people;
    found.push(priced);
  }
  return { flights: found, total };
}

/** The flight as a reservation holds it. @throws PythonError where it cannot be booked. */
function reservationFlight(
  kit: AirlineTools,
  number: string,
  date: unknown,
  cabin: unknown,
  people: number,
): ReservationFlight {
  const flight = kit.flight(number);
  const day = dayOf(flight, date);
  if (day.status !== 'available') throw valueError(`Flight ${number} not available on date ${str(date)}`);
  if (ofCabin(day.available_seats as Map<string, number>, cabin) < people)
    throw valueError(`Not enough seats on flight ${number}`);
  return {
    flight_number: number,
    origin: flight.origin,
    destination: flight.destination,
    date: date as string,
    price: ofCabin(day.prices as Map<string, number>, cabin),
  };
}

export const cancelReservation: Tool = {
  type: 'write',
  parameters: parameters('reservation_id'),
  run(kit, id) {
    const cancelled = kit.reservation(id);
    const refunds = cancelled.payment_history.map(({ payment_id, amount }) => ({
      payment_id,
      amount: negate(amount) as number,
    }));
    // Kept: seats are not released and balances not restored.
    cancelled.payment_history.push(...refunds);
    cancelled.status = 'cancelled';
    return cancelled;
  },
};

export const sendCertificate: Tool = {
  type: 'write',
  parameters: parameters('user_id', 'amount'),
  run(kit, userId, amount) {
    const user = kit.user(userId);
    for (const id of ['certificate_3221322', 'certificate_3221323', 'certificate_3221324']) {
      if (user.payment_methods.has(id)) continue;
      const sent = validate(
        certificate,
        new Map<string, unknown>([
          ['id', id],
          ['amount', amount],
          ['source', 'certificate'],
        ]),
      );
      user.payment_methods.set(id, sent);
      return `Certificate ${id} added to user ${str(userId)} with amount ${str(amount)}.`;
    }
    throw valueError('Too many certificates');
  },
};

export const updateBaggages: Tool = {
  type: 'write',
  parameters: parameters('reservation_id', 'total_baggages', 'nonfree_baggages', 'payment_id'),
  run(kit, id, total, nonfree, paymentId) {
    const updated = kit.reservation(id);
    const user = kit.user(updated.user_id);
    const more = subtract(nonfree, updated.nonfree_baggages);
    const price = multiply(50, (numeric(more) as number) > 0 ? more : 0);
    const paid = payForUpdate(user, paymentId, price);
    if (paid) updated.payment_history.push(paid);
    // Not validated: a string stays a string.
    updated.total_baggages = total as number;
    updated.nonfree_baggages = nonfree as number;
    return updated;
  },
};

export const updateFlights: Tool = {
  type: 'write',
  parameters: parameters('reservation_id', 'cabin', 'flights', 'payment_id'),
  run(kit, id, cabin, flightsArg, paymentId) {
    const flights = modelsOf(flightInfo, flightsArg);
    const updated = kit.reservation(id);
    const user = kit.user(updated.user_id);
    const people = len(updated.passengers);
    let price = 0;
    const chosen: ReservationFlight[] = [];
    for (const info of iterate(flights)) {
      // A flight that the reservation has in this cabin keeps its price.
      const kept = updated.flights.find(
        (flight) =>
          flight.flight_number === attribute(info, 'flight_number') &&
          flight.date === attribute(info, 'date') &&
          equal(cabin, updated.cabin),
      );
      const flight =
        kept ??
        reservationFlight(
          kit,
          kit.flight(attribute(info, 'flight_number')).flight_number,
          attribute(info, 'date'),
          cabin,
          people,
        );
      price += flight.price * people;
      chosen.push(flight);
    }
    price -= updated.flights.reduce((sum, flight) => sum + flight.price, 0) * people;
    const paid = payForUpdate(user, paymentId, price);
    if (paid) updated.payment_history.push(paid);
    updated.flights = chosen;
    // Kept: seats stay as they were.
    updated.cabin = cabin as typeof updated.cabin;
    return updated;
  },
};

export const updatePassengers: Tool = {
  type: 'write',
  parameters: parameters('reservation_id', 'passengers'),
  run(kit, id, passengersArg) {
    const passengers = modelsOf(passenger, passengersArg);
    const updated = kit.reservation(id);
    if (len(passengers) !== len(updated.passengers)) throw valueError('Number of passengers does not match');
    updated.passengers = deepCopy(passengers) as typeof updated.passengers;
    return updated;
  },
};
