/** Conversations: the list, and one of them as a thread over its traces. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ConversationRow, Turn, Turns } from '../../api/shapes/conversations.ts';
import type { StepRow } from '../../api/shapes/steps.ts';
import { projectPath, urlOf } from '../data/api.ts';
import { useSearch } from '../data/pages.ts';
import { useAnswer, useNow } from '../data/resource.ts';
import { Button, Fact, Link, Name } from '../parts/basics.tsx';
import { Menu } from '../parts/dialog.tsx';
import { FindText } from '../parts/find-text.tsx';
import { Cell, Grid } from '../parts/grid.tsx';
import { Nothing } from '../parts/nothing.tsx';
import { parsed } from '../parts/json-tree.tsx';
import { Archived, Found, SearchFoot } from '../parts/search.tsx';
import { Loaded } from '../parts/states.tsx';
import { Thread } from '../parts/thread.tsx';
import { cameFrom, open, pageHref } from '../state/location.ts';
import { seesContent } from '../state/session.ts';
import { isNarrow } from '../state/width.ts';
import { age, cost, exactly, exactTokens, plural, tokensOf, took } from '../text/figures.ts';
import { termOf } from '../text/filter-text.ts';
import { dateTime, msOf } from '../text/time.ts';
import { visible } from '../text/visible.ts';
import { MarkdownSwitch } from '../parts/text-block.tsx';
import { useAsked } from '../state/asked.ts';

const ROW_PX = 32;
const NARROW_ROW_PX = 58;
const PREVIEW = 160;

export function ConversationsPage({ project }: { project: string }): JSX.Element {
  const { q, query } = useAsked(project);
  const [active, setActive] = useState(cameFrom.peek());
  const now = useNow(5_000);
  const search = useSearch<ConversationRow>(projectPath(project, 'conversations'), query);
  const hrefOf = (row: ConversationRow): string => pageHref('conversations', row.conversation_id);
  return (
    <div class="list-page">
      <h1 class="quiet">Conversations</h1>
      <Found
        search={search}
        empty={
          <Nothing title="No conversation matches" q={q}>
            <p>
              Spans and log records with <code>gen_ai.conversation.id</code>, <code>session.id</code> or a similar
              attribute make conversations.
            </p>
          </Nothing>
        }
      >
        <Grid
          label="Conversations"
          class="conversation-grid"
          columns={[
            { name: 'Last', class: 'c-age' },
            { name: 'Conversation', class: 'c-name' },
            { name: 'User', class: 'c-service' },
            { name: 'Traces', class: 'c-calls' },
            { name: 'Calls', class: 'c-calls' },
            { name: 'Tokens', class: 'c-tokens' },
            { name: 'Cost', class: 'c-cost' },
            { name: 'Errors', class: 'c-errors' },
          ]}
          rows={search.items}
          height={isNarrow.value ? NARROW_ROW_PX : ROW_PX}
          active={search.items.findIndex((row) => row.conversation_id === active)}
          onActive={(index) => setActive(search.items[index]?.conversation_id ?? null)}
          onOpen={(row) => open(hrefOf(row))}
          rowOf={(row) => ({ key: `${row.environment} ${row.conversation_id}` })}
          cells={(row) => <Cells row={row} href={hrefOf(row)} now={now} />}
          footer={<SearchFoot search={search} what="trace" />}
        />
      </Found>
    </div>
  );
}

function Cells({ row, href, now }: { row: ConversationRow; href: string; now: number }): JSX.Element {
  const last = msOf(row.last_time_unix_nano);
  return (
    <>
      <Cell class="c-age" title={dateTime(last)}>
        {age(now - last)}
      </Cell>
      <Cell class="c-name">
        <Link href={href} tabStop={false}>
          <Name text={row.conversation_id} />
        </Link>
        {row.first_input == null ? null : <span class="muted what">{firstWords(row.first_input.text)}</span>}
      </Cell>
      <Cell class="c-service">{row.user_id === null ? '–' : <Name text={row.user_id} />}</Cell>
      <Cell class="c-calls">{exactly(row.trace_count)}</Cell>
      <Cell class="c-calls">{exactly(row.call_count)}</Cell>
      <Cell class="c-tokens" title={exactTokens(row)}>
        {tokensOf(row)}
      </Cell>
      <Cell class="c-cost">{cost(row.total_cost)}</Cell>
      <Cell class="c-errors">
        <span class={row.error_count > 0 ? 'bad-text' : ''}>{exactly(row.error_count)}</span>
      </Cell>
    </>
  );
}

/** The first text of an input that is stored as JSON, else its beginning. */
function firstWords(stored: string): string {
  const text = /"(?:content|text)"\s*:\s*"((?:[^"\\]|\\.)*)/u.exec(stored)?.[1];
  const words = text === undefined ? null : parsed(`"${text}"`);
  return visible((typeof words?.value === 'string' ? words.value : stored).slice(0, PREVIEW));
}

export function ConversationPage({ project, id }: { project: string; id: string }): JSX.Element {
  const path = projectPath(project, 'conversations', id, 'turns');
  const [cursor, setCursor] = useState<string | null>(null);
  const [newer, setNewer] = useState<readonly Turn[]>([]);
  useEffect(() => {
    setCursor(null);
    setNewer([]);
  }, [path]);
  const turns = useAnswer<Turns>(path, { cursor });
  return (
    <div class="conversation-page">
      <Loaded of={turns}>
        {({ conversation, items, next, complete_from: before, unread }) => {
          // Pages come from the newest; they are read from the oldest.
          const loaded = turns.stale ? newer : [...newer, ...items];
          return (
            <>
              <ConversationHeader project={project} row={conversation} />
              {seesContent.value ? <FindText isPart={next !== null} /> : null}
              <Archived before={before ?? null} unread={unread ?? null} />
              {next === null ? null : (
                <p class="actions">
                  <Button
                    onClick={() => {
                      setNewer(loaded);
                      setCursor(next);
                    }}
                  >
                    {items[0]?.trace === null ? 'Earlier records' : 'Earlier traces'}
                  </Button>
                </p>
              )}
              {[...loaded].reverse().map((turn) => (
                <TurnView key={turn.trace?.trace_id ?? turn.steps[0]?.start_time_unix_nano} turn={turn} />
              ))}
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

function ConversationHeader({ project, row }: { project: string; row: ConversationRow }): JSX.Element {
  return (
    <header class="trace-header">
      <div class="trace-title">
        <h1>
          <Name text={row.conversation_id} />
        </h1>
        <span class="stretch" />
        <DownloadMenu project={project} row={row} />
        <MarkdownSwitch />
      </div>
      <dl class="facts">
        <Fact name="user">
          {row.user_id === null ? (
            '–'
          ) : (
            <Link href={pageHref('traces', null, { q: termOf('user', row.user_id) })}>
              <Name text={row.user_id} />
            </Link>
          )}
        </Fact>
        <Fact name="traces">{exactly(row.trace_count)}</Fact>
        <Fact name="model calls">{exactly(row.call_count)}</Fact>
        <Fact name="tokens" title={exactTokens(row)}>
          {tokensOf(row)}
        </Fact>
        <Fact name="cost">{cost(row.total_cost)}</Fact>
        <Fact name="errors">{exactly(row.error_count)}</Fact>
        <Fact name="first">{dateTime(msOf(row.first_time_unix_nano), false)}</Fact>
        <Fact name="last">{dateTime(msOf(row.last_time_unix_nano), false)}</Fact>
      </dl>
    </header>
  );
}

/** Downloads the spans of a conversation, or its log records where no span names it. */
function DownloadMenu({ project, row }: { project: string; row: ConversationRow }): JSX.Element {
  const what = row.trace_count > 0 ? 'spans' : 'logs';
  const q = termOf('conversation', row.conversation_id);
  const forms = [
    ['ndjson', 'NDJSON'],
    ['csv', 'CSV'],
    ['otlp', 'OTLP'],
  ] as const;
  return (
    <Menu label="Download" text="Download" icon="download">
      {(close) =>
        forms.map(([as, name]) => (
          <a
            key={as}
            href={urlOf(projectPath(project, 'export'), { what, as, q })}
            download
            onClick={() => setTimeout(close)}
          >
            {what === 'spans' ? 'Spans' : 'Log records'} as {name}
          </a>
        ))
      }
    </Menu>
  );
}

/** Log records have no trace with spans to open. */
function LoggedTurn({ steps }: { steps: readonly StepRow[] }): JSX.Element {
  const count = plural(steps.length, 'log record');
  return (
    <article class="turn" aria-label={count}>
      <h2 class="turn-head">
        <span class="muted">{count}</span>
      </h2>
      {steps.length === 0 ? (
        <p class="muted">No model call or message is among the records.</p>
      ) : (
        <Thread steps={steps} />
      )}
    </article>
  );
}

function TurnView({ turn }: { turn: Turn }): JSX.Element {
  const { trace, steps, more_steps: isLonger } = turn;
  if (trace === null) return <LoggedTurn steps={steps} />;
  return (
    <article class="turn" aria-label={visible(trace.name)}>
      <h2 class="turn-head">
        <Link href={pageHref('traces', trace.trace_id)}>
          <Name text={trace.name} />
        </Link>
        <span class="muted">
          {dateTime(msOf(trace.start_time_unix_nano), false)} · {took(trace.duration_ns)} · {cost(trace.total_cost)}
        </span>
      </h2>
      <Thread steps={steps} />
      {isLonger ? (
        <p>
          <Link href={pageHref('traces', trace.trace_id, { view: 'messages' })}>This trace has more steps.</Link>
        </p>
      ) : null}
    </article>
  );
}
