"""Traffic as the Linear Road benchmark has it: cars on an expressway that report their position, speed and acceleration each second.

A car cruises around a speed of its own, and now and then does something for some seconds: it accelerates or brakes as everybody does, it is
in a hurry (speeding up to more than 70 mph and back), or its driver is aggressive: sharp acceleration into speeding, and a hard brake
soon after. Shares and lengths are arguments, so that a benchmark decides how often the aggressive-driver query finds something."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

AGGRESSIVE_DRIVERS = """
    FROM cars PARTITION BY car_id
    DEFINE A AS accel > 8 AT LEAST 5 SECONDS, B AS speed > 70 BETWEEN 4 SECONDS AND 30 SECONDS, C AS accel < -9 AT LEAST 3 SECONDS
    PATTERN A meets;overlaps;starts;during B AND B contains;finished by;overlaps;meets C AND A before C
    WITHIN 5 MINUTES
    RETURN first(B.car_id) AS id, avg(B.speed) AS avg_speed
"""

CRUISING, HURRY, SHARP, FAST, BRAKE, SOFT = range(6)
LENGTHS = {HURRY: (5, 60), SHARP: (5, 9), FAST: (2, 12), BRAKE: (3, 6), SOFT: (3, 20)}  # seconds, at least and below
NEXT = np.array([CRUISING, SOFT, FAST, BRAKE, SOFT, CRUISING])
FIRST_SECOND = 1_700_000_000
MILES_PER_HOUR_AND_SECOND = 1.0 / 3600.0


@dataclass(frozen=True)
class Traffic:
    """`hurry` and `aggressive`: how often per second a cruising car begins with it."""

    cars: int = 200
    hurry: float = 1 / 600
    aggressive: float = 1 / 20_000
    seed: int = 11

    def reports(self, count: int) -> pa.Table:
        """So many reports: of all cars in each second, in order of time. Columns ts, car_id, position (miles), speed (mph), accel
        (mph per second)."""
        seconds = -(-count // self.cars)
        speed, accel = self._driven(seconds)
        position = np.cumsum(speed, axis=0) * MILES_PER_HOUR_AND_SECOND
        times = FIRST_SECOND + np.repeat(np.arange(seconds), self.cars)
        columns = {
            "ts": pa.array(times * 1_000_000, pa.timestamp("us")),
            "car_id": np.tile(np.arange(self.cars), seconds),
            "position": position.ravel(),
            "speed": speed.ravel(),
            "accel": accel.ravel(),
        }
        return pa.table(columns).slice(0, count)

    def _driven(self, seconds: int) -> tuple[np.ndarray, np.ndarray]:
        """Speed and acceleration, a line per second and a column per car."""
        random = np.random.default_rng(self.seed)
        cruise = random.normal(55.0, 4.0, self.cars).clip(40.0, 66.0)
        state = np.full(self.cars, CRUISING)
        left = np.zeros(self.cars, np.int64)  # seconds in the state
        least, below = (np.array([LENGTHS.get(one, (0, 1))[bound] for one in range(len(NEXT))]) for bound in (0, 1))
        speed, accel = np.empty((seconds, self.cars)), np.empty((seconds, self.cars))
        now = cruise.copy()
        for second in range(seconds):
            left -= 1
            over = (left < 0) & (state != CRUISING)
            state[over] = NEXT[state[over]]
            chance = random.random(self.cars)
            free = state == CRUISING
            state[free & (chance < self.hurry)] = HURRY
            state[free & (chance < self.aggressive)] = SHARP
            begun = over | (free & (state != CRUISING))
            left[begun] = random.integers(least[state[begun]], below[state[begun]])
            wanted = _acceleration(state, now, cruise, random.normal(0.0, 0.4, self.cars))
            now = (now + wanted).clip(0.0, 100.0)
            speed[second], accel[second] = now, wanted
        return speed, accel


def _acceleration(state: np.ndarray, speed: np.ndarray, cruise: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """What the drivers want; a car at its limit reports the acceleration that it tries."""
    back_to = np.clip((cruise - speed) / 8.0, -6.0, 6.0)
    hurried = np.clip((78.0 - speed) / 4.0, -6.0, 6.0)
    by_state = (back_to, hurried, 9.5 + noise, 0.5 * noise, -11.0 + noise, back_to)
    return np.choose(state, [one + noise for one in by_state[:2]] + list(by_state[2:]))
