"""That no schedule is better, by exhaustive search, for the certificate checker (standard library only).

The search goes through time. A state at time t is: the requests of each type that have not started, and the tokens
that the running ones will hold in each later step. A type is (prompt, output, arrival). From a state, any of the
requests that are released and fit start at t; then time moves on by one step. Costs are waiting times, start minus
arrival. If some schedule is better than the claimed optimum then so is every optimal one, and the search must find
one. Each rule below drops a state only if no optimal schedule passes it, or if a state that is kept has an optimal
completion whenever the dropped one has. So by induction over the layers some optimal schedule survives.

* **Bound.** Multipliers lam >= 0 of the memory rows (checker_bounds.Prices) bound the cost of any completion: a
  request of type k yet to start costs at least m_k(t), the least of its waiting plus priced tokens over the starts
  from t on. Along a path the bound grows by "cost at t minus m_k(t)" when a request starts, by lam_x per token
  left free in step x, and by m_k(t + 1) - m_k(t) per request left over at t. A state has a budget per vector,
  D * (claimed optimum - 1) minus the bound, and is dropped when one is negative. The vector lam = 0 comes first: a
  complete schedule within its budget is truly better.
* **Look-ahead.** Beside those that run now, a request fits from some time e on; so it costs at least m_k(e).
* **Idling.** If nothing runs although all that remain are released, each can start one step earlier: not optimal.
  (With requests still to arrive, waiting for them can be right.)
* **Left shift.** If one request can start a step earlier, the others unmoved, the schedule is not optimal. Moved
  from t to t - 1 it holds its first tokens in step t, and at most `block` more than before in each of the steps
  t + 1, ..., t + output - 1. So if step t has room for its first tokens and it has arrived by t - 1, one of those
  steps must have less than `block` tokens free. That is a deadline, and the next such step lifts it.
* **Dominance.** Of two states at t with the same requests to start, the one that holds no more in any step and has
  cost no more is enough: any completion of the other is one of it. (The history that a state remembers for the
  left shift rule is its own: with an optimal completion it is an optimal schedule, which that rule never drops.)

The tokens of a step are a field of a long integer, and so are the budgets of the vectors: one addition starts a
request, and one mask tells whether all steps are within the memory, for the top bit of a field is a guard.
"""

from __future__ import annotations

from lp_bounds.checker_bounds import MAX_WORK, Prices, growth
from lp_bounds.checker_input import Clock, Job, Problem, RefusedError, UndecidedError

MAX_MEMORY = 2**31  #: bytes that the states of one time may take, about
MAX_BITS = 1_000_000  #: length of a profile
DOMINATORS = 24  #: states that a state is compared with for dominance
OFTEN = 2**12 - 1  #: mask: states between two looks at the clock


NEVER = 1 << 62  #: no deadline

#: What the best path to a state remembers: the packed budgets; the deadline of the left shift rule, or NEVER; the
#: tokens free in the step before.
Memo = tuple[int, int, int]
#: States at one time. The key is the profile of later steps, then one field per type for the requests to start.
Layer = dict[int, Memo]


def refute_better(problem: Problem, optimum: int, vectors: list[Prices], clock: Clock) -> None:
    """Return if no schedule has a total latency below `optimum`.

    Raises
    ------
    RefusedError
        If a better schedule exists.
    UndecidedError
        If time or memory do not suffice.
    """
    for prices in vectors:
        if prices.bound(clock) > prices.denominator * (optimum - 1):
            return
    if optimum > sum(job.output for job in problem.jobs):
        _Search(problem, optimum, [Prices(problem, 1, ()), *vectors], clock).run()


class _Search:
    """Tables of the search: everything per type, packed into fields."""

    def __init__(self, problem: Problem, optimum: int, vectors: list[Prices], clock: Clock) -> None:
        self.problem, self.clock, self.optimum = problem, clock, optimum
        jobs, memory = problem.jobs, problem.memory
        self.types = sorted(set(jobs), key=lambda job: (-job.prompt - job.output, job))
        self.longest = max(job.output for job in jobs)
        if sum(prices.work(job) for prices in vectors for job in self.types) > MAX_WORK:
            raise UndecidedError(f"the multipliers need more than {MAX_WORK} table entries")
        self._pack_profiles(jobs, memory)
        self._pack_budgets(vectors, memory)
        bits = self.longest * self.width + self.count_bits + self.budget_guard.bit_length()
        self.most_states = MAX_MEMORY // (400 + bits // 4)  # there is a layer before and a layer after

    def _pack_profiles(self, jobs: tuple[Job, ...], memory: int) -> None:
        self.width = memory.bit_length() + 1
        if self.longest * self.width > MAX_BITS:
            raise UndecidedError(f"the profile of future steps is longer than {MAX_BITS} bits")
        self.count_width = len(jobs).bit_length()
        self.count_bits = self.count_width * len(self.types)
        every = sum(1 << x * self.width for x in range(self.longest))
        self.guard = every << (self.width - 1) << self.count_bits
        self.offset = every * ((1 << (self.width - 1)) - 1 - memory) << self.count_bits
        self.all_counts = (1 << self.count_bits) - 1
        self.count_field = (1 << self.count_width) - 1
        self.some = [self.count_field << k * self.count_width for k in range(len(self.types))]
        self.one = [1 << k * self.count_width for k in range(len(self.types))]
        self.profile = []
        for job in self.types:
            held = (self.problem.held(job.prompt, j + 1) << j * self.width for j in range(job.output))
            self.profile.append(sum(held) << self.count_bits)
        self.start = [q - one for q, one in zip(self.profile, self.one, strict=True)]  # what a start adds to a key
        self.first = [growth(self.problem, job).first for job in self.types]
        self.counts = sum(one * jobs.count(job) for one, job in zip(self.one, self.types, strict=True))

    def _pack_budgets(self, vectors: list[Prices], memory: int) -> None:
        """Pack the vectors: m_k(t) and "cost minus m_k(t)" by t - arrival, sums of the prices by t."""
        self.horizon = max(prices.horizon for prices in vectors)
        n = len(self.problem.jobs)
        self.budget, self.unit, self.budget_guard, position = 0, 0, 0, 0
        self.least = [[0] * (max(self.horizon - job.arrival, 0) + 1) for job in self.types]
        self.excess = [[0] * len(table) for table in self.least]
        self.paid = [0] * (self.horizon + 1)
        target = self.optimum - 1 - sum(job.output for job in self.problem.jobs)
        for prices in reversed(vectors):
            self.clock.check()
            scale, root, largest = prices.denominator, -memory * prices.sums[-1], 0
            for job, least, excess in zip(self.types, self.least, self.excess, strict=True):
                costs = prices.costs(job)
                costs += [scale * t for t in range(len(costs), len(least))]
                low = scale * len(costs)
                for t in range(len(costs) - 1, -1, -1):
                    low = min(low, costs[t])
                    least[t] += low << position
                    excess[t] += (costs[t] - low) << position
                root += low * self.problem.jobs.count(job)
                largest = max(largest, max(costs), scale * len(costs))
            for t in range(self.horizon + 1):
                self.paid[t] += prices.sums[min(t, prices.horizon)] << position
            budget = scale * target - root
            self.budget += budget << position
            self.unit += scale << position
            largest = budget + n * (largest + scale * (self.longest + 2)) + memory * prices.sums[-1]
            self.top = position  # in the end, where the budget of the first vector begins
            position += largest.bit_length() + 1
            self.budget_guard += 1 << (position - 1)

    def least_from(self, k: int, t: int) -> int:
        """m_k(t), packed."""
        since = max(t - self.types[k].arrival, 0)
        table = self.least[k]
        return table[since] if since < len(table) else self.unit * since

    def slack(self, t: int, later: int) -> int:
        """Price of one token in each of the steps t + 1, ..., later, packed."""
        return self.paid[min(later, self.horizon)] - self.paid[min(t, self.horizon)]

    def run(self) -> None:
        """Search layer by layer; see refute_better."""
        guard, first = self.budget_guard, min(job.arrival for job in self.types)
        budget = (self.budget | guard) - self.problem.memory * self.slack(0, first)
        layers: dict[int, Layer] = {}
        if budget & guard == guard:
            layers[first] = {self.counts: (budget ^ guard, NEVER, self.problem.memory)}
        while layers:
            t = min(layers)
            layer = self._undominated(layers.pop(t))
            for k in range(len(self.types)):
                self._start(layer, k, t)
            if any(not key & self.all_counts for key in layer):
                raise RefusedError("optimum", f"a schedule with a total latency below {self.optimum} exists")
            self._wait(layer, t, layers)

    def _undominated(self, layer: Layer) -> Layer:
        """Drop states that another one with the same requests to start dominates."""
        groups: dict[int, list[int]] = {}
        for key in layer:
            groups.setdefault(key & self.all_counts, []).append(key)
        guard = self.guard
        kept: Layer = {}
        for group in groups.values():
            group.sort(key=lambda key: (-(layer[key][0] >> self.top), key))
            rivals: list[int] = []
            for number, key in enumerate(group):
                if not number & OFTEN:
                    self.clock.check()
                high = key | guard
                for rival in rivals:
                    if (high - rival) & guard == guard:
                        break
                else:
                    kept[key] = layer[key]
                    if len(rivals) < DOMINATORS:
                        rivals.append(key)
        return kept

    def _start(self, layer: Layer, k: int, t: int) -> None:
        """Decide in each state how many requests of type k start at t; those left over are charged for waiting.

        States with fewer to start come first, so that what a start leads to is already charged when compared.
        """
        job, delta, first, some = self.types[k], self.start[k], self.first[k], self.some[k]
        if job.arrival > t:
            return
        table, shift = self.excess[k], k * self.count_width
        cost = table[t - job.arrival] if t - job.arrival < len(table) else 0
        delay = self.least_from(k, t + 1) - self.least_from(k, t)
        offset, guard, budget_guard = self.offset, self.guard, self.budget_guard
        concerned = [item for item in layer.items() if item[0] & some]
        concerned.sort(key=lambda item: item[0] & some)
        for number, (key, (budget, deadline, room)) in enumerate(concerned):
            if not number & OFTEN:
                self.clock.check()
                if len(layer) > self.most_states:
                    raise UndecidedError(f"the search holds more than {self.most_states} states at time {t}")
            left = (key & some) >> shift
            rest = (budget | budget_guard) - left * delay
            if rest & budget_guard == budget_guard:
                layer[key] = (rest ^ budget_guard, deadline, room)
            else:
                del layer[key]
            if t > job.arrival and room >= first:
                if job.output == 1:
                    continue
                deadline = min(deadline, t + job.output - 1)
            while left:
                key += delta
                if (key + offset) & guard:
                    break
                budget = (budget | budget_guard) - cost
                if budget & budget_guard != budget_guard:
                    break
                budget ^= budget_guard
                left -= 1
                rest = (budget | budget_guard) - left * delay
                if rest & budget_guard != budget_guard:
                    continue
                rest ^= budget_guard
                known = layer.get(key)
                if known is not None and known[0] >= rest:
                    break
                layer[key] = (rest, deadline, room)

    def _wait(self, layer: Layer, t: int, layers: dict[int, Layer]) -> None:
        """Add the states after step t + 1, in which nothing more starts, to the layers."""
        memory, block, budget_guard = self.problem.memory, self.problem.block, self.budget_guard
        price, field, count_bits = self.slack(t, t + 1), (1 << self.width) - 1, self.count_bits
        least = [self.least_from(k, t + 1) for k in range(len(self.types))]
        layer_after: Layer = {}
        for number, (key, (budget, deadline, _)) in enumerate(layer.items()):
            if not number & OFTEN:
                self.clock.check()
            counts, profile = key & self.all_counts, key >> count_bits
            if not profile:
                self._idle(counts, budget, t, layers)
                continue
            room = memory - (profile & field)
            if room < block:
                deadline = NEVER
            elif deadline <= t + 1:
                continue
            budget = (budget | budget_guard) - room * price
            if budget & budget_guard != budget_guard:
                continue
            key = profile >> self.width << count_bits | counts
            known = layer_after.get(key)
            if known is not None and known[0] >= budget ^ budget_guard:
                continue
            if self._looks_possible(key, budget, t + 1, least):
                layer_after[key] = (budget ^ budget_guard, deadline, room)
        if layer_after:
            self._merge(layers, t + 1, layer_after)

    def _looks_possible(self, key: int, budget: int, t: int, least: list[int]) -> bool:
        """Look ahead: whether the budget, with guards, allows each request to start when it first fits."""
        width, count_bits, guard, budget_guard = self.width, self.count_bits, self.guard, self.budget_guard
        shifted = [key + self.offset]  # by 0, 1, ... steps; what is added to the lower fields does not matter
        for k, some in enumerate(self.some):
            if not key & some:
                continue
            profile, arrival = self.profile[k], self.types[k].arrival
            later = arrival - t if arrival > t else 0
            while later < self.longest:
                while later >= len(shifted):
                    shifted.append((key >> count_bits + width * len(shifted) << count_bits) + self.offset)
                if not (shifted[later] + profile) & guard:
                    break
                later += 1
            if later:
                gain = self.least_from(k, t + later) - least[k]
                if gain:
                    budget -= (key >> k * self.count_width & self.count_field) * gain
                    if budget & budget_guard != budget_guard:
                        return False
        return True

    def _merge(self, layers: dict[int, Layer], t: int, states: Layer) -> None:
        layer = layers.setdefault(t, {})
        for key, memo in states.items():
            known = layer.get(key)
            if known is None or known[0] < memo[0]:
                layer[key] = memo

    def _idle(self, counts: int, budget: int, t: int, layers: dict[int, Layer]) -> None:
        """Nothing runs: not optimal if all that remain are released; go on to the next arrival if none is."""
        arrivals = [job.arrival for job, some in zip(self.types, self.some, strict=True) if counts & some]
        if max(arrivals) <= t:
            return
        later = t + 1 if min(arrivals) <= t else min(arrivals)
        guard, memory = self.budget_guard, self.problem.memory
        budget = (budget | guard) - memory * self.slack(t, later)  # no type waits that was not charged for it
        if budget & guard == guard:
            self._merge(layers, later, {counts: (budget ^ guard, NEVER, memory)})
