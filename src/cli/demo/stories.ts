/** The traces of `sluice demo --scale`: questions to an assistant, orders in a support chat, searches, digests. */
import type { Dice } from './dice.ts';
import { type Attributes, CLIENT, INTERNAL, SERVER, type Step } from './otlp.ts';

export interface StoryStep extends Step {
  readonly service: string;
}

export interface Story {
  readonly traceId: string;
  /** Milliseconds since the begin of the slot. */
  readonly from: number;
  readonly steps: readonly StoryStep[];
}

export interface Visitor {
  readonly user: string;
  readonly conversation: string;
}

interface Model {
  readonly provider: string;
  readonly name: string;
  readonly answers: string;
  readonly msPerToken: number;
  readonly caches: boolean;
}

const MODELS: readonly [Model, ...Model[]] = [
  { provider: 'openai', name: 'gpt-5-mini', answers: 'gpt-5-mini-2025-08-07', msPerToken: 6, caches: true },
  { provider: 'openai', name: 'gpt-5', answers: 'gpt-5-2025-08-07', msPerToken: 14, caches: true },
  { provider: 'openai', name: 'gpt-4.1-mini', answers: 'gpt-4.1-mini-2025-04-14', msPerToken: 5, caches: false },
  {
    provider: 'anthropic',
    name: 'claude-sonnet-4-5',
    answers: 'claude-sonnet-4-5-20250929',
    msPerToken: 12,
    caches: true,
  },
  { provider: 'gcp.gemini', name: 'gemini-2.5-flash', answers: 'gemini-2.5-flash', msPerToken: 4, caches: false },
  // A model of the house, which has no price.
  { provider: 'vllm', name: 'house-llama', answers: 'house-llama-7', msPerToken: 9, caches: false },
];

interface Topic {
  readonly question: string;
  readonly search: string;
  readonly answer: string;
}

const TOPICS: readonly [Topic, ...Topic[]] = [
  {
    question: 'What should I pack for three days in Bergen?',
    search: 'packing list Bergen',
    answer: 'Pack for rain: a waterproof jacket, boots that dry quickly, and a warm layer for the evenings.',
  },
  {
    question: 'Which train goes from Lisbon to Porto on Sunday morning?',
    search: 'train Lisbon Porto timetable',
    answer: 'The first one leaves at 07:00 and takes a little less than three hours. Seats can be booked.',
  },
  {
    question: 'Is the museum in Bilbao open on Mondays?',
    search: 'museum Bilbao opening hours',
    answer: 'It is closed on Mondays outside of the summer. From June to September it opens every day.',
  },
  {
    question: 'Find a hotel near the harbour for two nights, quiet if possible.',
    search: 'hotels harbour quiet',
    answer: 'Two have free rooms. The smaller one lies in a side street and has better reviews for sleep.',
  },
];

/** Shares of steps that fail. */
const FAILING_CALLS = 0.03;
const FAILING_TOOLS = 0.08;

/** A span ends this long after the last span below it. */
const OVERHEAD_MS = 4;

class StoryWriter {
  readonly #dice: Dice;
  readonly #common: Attributes;
  readonly #from: number;
  readonly #steps: StoryStep[] = [];
  readonly #traceId: string;

  constructor(dice: Dice, from: number, { user, conversation }: Visitor) {
    this.#dice = dice;
    this.#from = from;
    this.#common = { 'gen_ai.conversation.id': conversation, 'user.id': user };
    this.#traceId = dice.id(16);
  }

  /** Adds the span and returns its id. */
  add(step: Omit<StoryStep, 'id'>): string {
    const id = this.#dice.id(8);
    this.#steps.push({ ...step, id });
    return id;
  }

  /** Spans end after those below them, which were added later. */
  story(): Story {
    const ends = new Map(this.#steps.map(({ id, to }) => [id, to]));
    for (const { id, parent } of this.#steps.toReversed()) {
      const above = parent === null ? undefined : ends.get(parent);
      if (parent !== null && above !== undefined) ends.set(parent, Math.max(above, (ends.get(id) ?? 0) + OVERHEAD_MS));
    }
    const steps = this.#steps.map((step) => ({ ...step, to: ends.get(step.id) ?? step.to }));
    return { traceId: this.#traceId, from: this.#from, steps };
  }

  agent(name: string, place: Place): string {
    const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': name, ...this.#common };
    return this.add({ ...place, name: `invoke_agent ${name}`, kind: INTERNAL, to: place.from, attributes });
  }

  /** The three methods below return the millisecond at which the step ends. */
  chat(place: Place, { question, answer }: Topic, calls = false): number {
    const dice = this.#dice;
    const model = dice.pick(MODELS);
    const [input, output] = [dice.between(300, 6_000), calls ? dice.between(20, 90) : dice.between(80, 700)];
    const first = dice.between(180, 900);
    const fails = dice.chance(FAILING_CALLS);
    const to = place.from + (fails ? dice.between(40, 400) : first + output * model.msPerToken);
    const said = calls ? { finish_reason: 'tool_call' } : { finish_reason: 'stop' };
    const answered: Attributes = {
      'gen_ai.response.model': model.answers,
      'gen_ai.response.id': `answer-${dice.id(8)}`,
      'gen_ai.usage.input_tokens': input,
      ...(model.caches ? { 'gen_ai.usage.cache_read.input_tokens': Math.floor(input * dice.next() * 0.8) } : {}),
      'gen_ai.usage.output_tokens': output,
      'gen_ai.response.time_to_first_chunk': first / 1000,
      'gen_ai.response.finish_reasons': [said.finish_reason],
      'gen_ai.output.messages': messages('assistant', calls ? 'I have to look that up.' : answer, said),
    };
    this.add({
      ...place,
      name: `chat ${model.name}`,
      kind: CLIENT,
      to,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': model.provider,
        'gen_ai.request.model': model.name,
        'gen_ai.input.messages': messages('user', question, {}),
        ...(fails ? { 'error.type': dice.pick(['rate_limit_exceeded', 'overloaded', 'timeout']) } : answered),
        ...this.#common,
      },
      ...(fails ? { failure: 'the provider did not answer the call' } : {}),
    });
    return to;
  }

  tool(place: Place, name: string, call: string, result: string): number {
    const fails = this.#dice.chance(FAILING_TOOLS);
    const to = place.from + (fails ? 1_000 : this.#dice.between(20, 600));
    const attributes: Attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': `call-${this.#dice.id(6)}`,
      'gen_ai.tool.call.arguments': call,
      ...(fails ? { 'error.type': 'timeout' } : { 'gen_ai.tool.call.result': result }),
      ...this.#common,
    };
    const failure = fails ? { failure: `${name} did not answer within 1 s` } : {};
    this.add({ ...place, name: `execute_tool ${name}`, kind: INTERNAL, to, attributes, ...failure });
    return to;
  }

  retrieval(place: Place, source: string, query: string): number {
    const to = place.from + this.#dice.between(20, 240);
    const attributes = {
      'gen_ai.operation.name': 'retrieval',
      'gen_ai.data_source.id': source,
      'gen_ai.retrieval.query.text': query,
      ...this.#common,
    };
    this.add({ ...place, name: `retrieval ${source}`, kind: CLIENT, to, attributes });
    return to;
  }
}

interface Place {
  readonly service: string;
  readonly parent: string | null;
  readonly from: number;
}

export function makeStory(dice: Dice, from: number, visitor: Visitor): Story {
  const writer = new StoryWriter(dice, from, visitor);
  const kind = dice.next();
  if (kind < 0.5) assist(writer, dice);
  else if (kind < 0.75) support(writer, dice);
  else if (kind < 0.9) search(writer, dice);
  else digest(writer, dice);
  return writer.story();
}

function assist(writer: StoryWriter, dice: Dice): void {
  const topic = dice.pick(TOPICS);
  const route = addRoute(writer, 'travel-web', 'POST /chat');
  const agent = writer.agent('travel-assistant', { service: 'travel-agent', parent: route, from: 4 });
  const at = (from: number): Place => ({ service: 'travel-agent', parent: agent, from });
  let now = writer.retrieval(at(20), 'guides', topic.search);
  now = writer.chat(at(now + 5), topic, true);
  for (let left = dice.between(1, 2); left > 0; left -= 1)
    now = writer.tool(at(now + 4), 'get_weather', '{"city":"Bergen","days":3}', '{"rain_mm":[12,4,9]}');
  writer.chat(at(now + 5), topic);
}

function support(writer: StoryWriter, dice: Dice): void {
  const order = dice.between(10_000, 99_999);
  const question = `Where is my order ${order}?`;
  const agent = writer.agent('support-agent', { service: 'support-bot', parent: null, from: 0 });
  const at = (from: number): Place => ({ service: 'support-bot', parent: agent, from });
  const answer = `Order ${order} left the warehouse this morning and arrives tomorrow.`;
  let now = writer.chat(at(10), { question, answer, search: '' }, true);
  now = writer.tool(at(now + 4), 'lookup_order', `{"order":${order}}`, '{"state":"sent"}');
  if (dice.chance(0.3)) now = writer.tool(at(now + 4), 'refund_policy', '{}', '{"days":30}');
  writer.chat(at(now + 6), { question, answer, search: '' });
}

function search(writer: StoryWriter, dice: Dice): void {
  const { search } = dice.pick(TOPICS);
  const route = addRoute(writer, 'travel-web', 'GET /search');
  writer.retrieval({ service: 'search-api', parent: route, from: 6 }, 'hotels', search);
  writer.retrieval({ service: 'search-api', parent: route, from: 9 }, 'guides', search);
}

function digest(writer: StoryWriter, dice: Dice): void {
  const agent = writer.agent('digest', { service: 'digest-worker', parent: null, from: 0 });
  let now = 10;
  for (let left = dice.between(2, 5); left > 0; left -= 1) {
    const place = { service: 'digest-worker', parent: agent, from: now };
    const { answer } = dice.pick(TOPICS);
    now = writer.chat(place, { question: 'Summarise the reviews of this week.', answer, search: '' }) + 20;
  }
}

const addRoute = (writer: StoryWriter, service: string, name: string): string =>
  writer.add({
    ...{ service, name, parent: null, kind: SERVER, from: 0, to: 0 },
    attributes: { 'http.request.method': name.split(' ')[0] ?? '', 'http.route': name.split(' ')[1] ?? '' },
  });

/** The spans of one case of the nightly evaluation, itself included. */
export const CASE_SPANS = 99;
export const CASE_MS = 2_400;
const CASE_STEPS = CASE_SPANS - 1;

/** Case `number` of the trace, below `root`. */
export function makeCase(dice: Dice, visitor: Visitor, root: string, number: number): readonly StoryStep[] {
  const writer = new StoryWriter(dice, 0, visitor);
  const begin = number * CASE_MS;
  const service = 'evaluation';
  const parent = writer.add({
    ...{ service, parent: root, name: `case ${number + 1}`, kind: INTERNAL, from: begin, to: begin },
    attributes: { 'app.case': number + 1 },
  });
  for (let step = 0; step < CASE_STEPS; step += 1) {
    const place = { service, parent, from: begin + step * 20 };
    if (step % 14 === 0) writer.chat(place, dice.pick(TOPICS));
    else if (step % 7 === 3) writer.retrieval(place, 'guides', dice.pick(TOPICS).search);
    else writer.tool(place, dice.pick(['judge', 'get_weather', 'lookup_order']), '{}', '{"ok":true}');
  }
  return writer.story().steps;
}

function messages(role: string, content: string, more: object): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content }], ...more }]);
}
