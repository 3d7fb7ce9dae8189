import { hashable, str, valueError } from '../python/value.js';
import { parameters, type ToolFunction } from '../toolkit.js';
import type { Flight, FlightDay } from './models.js';
import type { AirlineTools } from './toolkit.js';

/** Reading tools about flights. */

const AIRPORTS: readonly (readonly [iata: string, city: string])[] = [
  ['SFO', 'San Francisco'],
  ['JFK', 'New York'],
  ['LAX', 'Los Angeles'],
  ['ORD', 'Chicago'],
  ['DFW', 'Dallas'],
  ['DEN', 'Denver'],
  ['SEA', 'Seattle'],
  ['ATL', 'Atlanta'],
  ['MIA', 'Miami'],
  ['BOS', 'Boston'],
  ['PHX', 'Phoenix'],
  ['IAH', 'Houston'],
  ['LAS', 'Las Vegas'],
  ['MCO', 'Orlando'],
  ['EWR', 'Newark'],
  ['CLT', 'Charlotte'],
  ['MSP', 'Minneapolis'],
  ['DTW', 'Detroit'],
  ['PHL', 'Philadelphia'],
  ['LGA', 'LaGuardia'],
];

export const listAllAirports: ToolFunction<AirlineTools> = {
  type: 'read',
  parameters: [],
  run: () => AIRPORTS.map(([iata, city]) => ({ iata, city })),
};

/** A flight that can be booked, as searches print it. */
function directFlight(flight: Flight, date: string, shownDate: string | null) {
  const day = flight.dates.get(date);
  return {
    flight_number: flight.flight_number,
    origin: flight.origin,
    destination: flight.destination,
    status: 'available',
    scheduled_departure_time_est: flight.scheduled_departure_time_est,
    scheduled_arrival_time_est: flight.scheduled_arrival_time_est,
    date: shownDate,
    available_seats: day?.available_seats,
    prices: day?.prices,
  };
}

/** @throws PythonError for a day that the flight does not have. */
export function dayOf(flight: Flight, date: unknown): FlightDay {
  const key = hashable(date);
  const found = key === null ? undefined : flight.dates.get(key);
  if (!found) throw valueError(`Flight ${flight.flight_number} not found on date ${str(date)}`);
  return found;
}

/** Flights available on a day, in the database's order; null stands for any place or time. */
function availableFlights(
  kit: AirlineTools,
  date: unknown,
  origin: unknown,
  destination: unknown,
  leaveAfter: string | null,
): Flight[] {
  return kit.flights.values().filter((flight) => {
    if (origin !== null && flight.origin !== origin) return false;
    if (destination !== null && flight.destination !== destination) return false;
    const key = hashable(date);
    if (key === null || flight.dates.get(key)?.status !== 'available') return false;
    // Times compare as strings, `+1` of the next day included.
    return leaveAfter === null || flight.scheduled_departure_time_est >= leaveAfter;
  });
}

const ROUTE = parameters('origin', 'destination', 'date');

export const searchDirectFlight: ToolFunction<AirlineTools> = {
  type: 'read',
  parameters: ROUTE,
  run: (kit, origin, destination, date) =>
    availableFlights(kit, date, origin, destination, null).map((flight) =>
      directFlight(flight, date as string, null),
    ),
};

export const searchOnestopFlight: ToolFunction<AirlineTools> = {
  type: 'read',
  parameters: ROUTE,
  run: (kit, origin, destination, date) =>
    availableFlights(kit, date, origin, null, null).flatMap((first) => {
      const day = date as string;
      // Kept: the next day has no leading zero and stays in May, so that early days find nothing.
      const nextDay = first.scheduled_arrival_time_est.includes('+1')
        ? `2024-05-${Number.parseInt(day.slice(-2), 10) + 1}`
        : day;
      return availableFlights(
        kit,
        nextDay,
        first.destination,
        destination,
        first.scheduled_arrival_time_est,
      ).map((second) => [directFlight(first, day, day), directFlight(second, nextDay, nextDay)]);
    }),
};

export const getFlightStatus: ToolFunction<AirlineTools> = {
  type: 'read',
  parameters: parameters('flight_number', 'date'),
  run: (kit, number, date) => kit.flightDay(number, date).status,
};
