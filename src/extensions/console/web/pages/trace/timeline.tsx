/** The timeline: a tree of spans on the left, their bars on the right, and the panel of the selected span. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TraceHeader } from '../../../api/shapes/traces.ts';
import {
  type Folding,
  type Line,
  NOTHING_FOLDED,
  criticalPath,
  keyOf,
  linesOf,
  matches,
  revealed,
  withFold,
} from '../../data/span-lines.ts';
import { axisOf } from '../../data/axis.ts';
import type { Span, Spans } from '../../data/spans.ts';
import { Button } from '../../parts/basics.tsx';
import { Grid } from '../../parts/grid.tsx';
import { type Shortcuts, useKeys } from '../../state/keys.ts';
import { hrefWith, open, place } from '../../state/location.ts';
import { panelWidth } from '../../state/settings.ts';
import { isNarrow } from '../../state/width.ts';
import { tookMs } from '../../text/figures.ts';
import { FindBar } from './find-bar.tsx';
import { LineCells } from './line.tsx';
import { Minimap } from './minimap.tsx';
import type { TraceRef } from './trace-ref.ts';
import { Panel } from './panel.tsx';
import type { View, Zoom } from './zoom.ts';

const ROW_PX = 28;
const NARROWEST_PANEL_PX = 300;
const NAMED_WAITS = 3;

interface TimelineProps {
  readonly trace: TraceRef;
  readonly header: TraceHeader;
  readonly spans: Spans;
  /** Loads the next part of a large trace. */
  more(): void;
}

/** What was folded stays folded as long as the page is open. */
const foldings = new Map<string, Folding>();

/** The selected span is in the fragment of the address. */
const selectedId = (): string | null => /(?:^|&)s=([0-9a-f]{16})/u.exec(place.value.hash)?.[1] ?? null;

function select(span: Span | null): void {
  open(hrefWith({}) + (span === null ? '' : `#s=${span.id}`), true);
}

export function Timeline({ trace, header, spans, more }: TimelineProps): JSX.Element {
  const [folding, setFolding] = useFolding(trace.id);
  const [foldsWaits, setFoldsWaits] = useState(true);
  const axis = useMemo(() => axisOf(spans.all, spans.length, foldsWaits), [spans, foldsWaits]);
  const hasWaits = useMemo(() => axisOf(spans.all, spans.length, true).folds.length > 0, [spans]);
  const [zoom, setZoom] = useState<Zoom>({ from: 0, to: axis.length });
  const [find, setFind] = useState('');
  const [onlyFound, setOnlyFound] = useState(false);
  const [showsPath, setShowsPath] = useState(false);
  const [isPanelOpen, setPanelOpen] = useState(true);
  useEffect(() => setZoom({ from: 0, to: axis.length }), [axis]);
  const found = useMemo(
    () => (find === '' ? null : new Set(spans.all.filter((span) => matches(span, find)))),
    [spans, find],
  );
  const path = useMemo(() => (showsPath ? criticalPath(spans) : null), [spans, showsPath]);
  const hidden = useMemo(
    () => (onlyFound && found !== null ? hiddenOf(spans, found) : null),
    [spans, found, onlyFound],
  );
  const lines = useMemo(() => linesOf(spans, folding, hidden), [spans, folding, hidden]);
  const id = selectedId();
  const selected = useMemo(() => spans.all.find((span) => span.id === id) ?? null, [spans, id]);
  const [lineKey, setLineKey] = useState<string | null>(null);
  const wanted = lineKey ?? (selected === null ? null : keyOf(selected));
  const active = lines.findIndex(({ key }) => key === wanted);
  const activate = (line: Line | undefined): void => {
    if (line === undefined) return;
    setLineKey(line.key);
    if (line.kind === 'span') select(line.span);
  };
  const goTo = (span: Span | undefined): void => {
    if (span === undefined) return;
    setFolding(revealed(folding, spans, span));
    setLineKey(keyOf(span));
    select(span);
  };
  // The search that continues in parts that are not loaded yet.
  const [sought, setSought] = useState<{ readonly is: (span: Span) => boolean } | null>(null);
  const step = (by: 1 | -1, is: (span: Span) => boolean): void => {
    const span = nextOf(spans, selected, by, is);
    const isLater = by === 1 && spans.next !== null && (span?.index ?? -1) <= (selected?.index ?? -1);
    setSought(isLater ? { is } : null);
    if (isLater) more();
    else goTo(span);
  };
  useEffect(() => {
    if (sought !== null && !spans.isCut) step(1, sought.is);
    // A link to a span unfolds what hides it, and loads the parts before it.
    else if (selected !== null && active < 0) goTo(selected);
    else if (selected === null && id !== null && spans.next !== null) more();
  }, [id, spans]);
  useKeys({
    c: () => setShowsPath(!showsPath),
    f: () => setOnlyFound(!onlyFound),
    Space: () => setPanelOpen(!isPanelOpen),
    Escape: () => (find === '' ? setPanelOpen(false) : setFind('')),
    ...zoomKeys(zoom, axis.length, setZoom),
    w: () => setFoldsWaits(!foldsWaits),
  });
  const dims = (line: Line): boolean => {
    if (line.kind !== 'span') return false;
    return (path !== null && !path.has(line.span)) || (found !== null && !found.has(line.span));
  };
  const view = { ...zoom, axis };
  const position = selected === null || found === null ? 0 : [...found].indexOf(selected) + 1;
  return (
    <div class={`timeline ${isPanelOpen ? '' : 'no-panel'}`} style={{ '--panel': `${panelWidth.value}px` }}>
      <div class="timeline-main">
        <FindBar
          text={find}
          setText={setFind}
          count={found?.size ?? 0}
          isPart={spans.next !== null}
          position={position}
          onlyFound={onlyFound}
          setOnlyFound={setOnlyFound}
          errors={header.error_count}
          showsPath={showsPath}
          setShowsPath={setShowsPath}
        />
        {hasWaits ? (
          <p class="waits">
            <span class="muted">
              {axis.folds.length === 0
                ? 'Long waits hide the spans.'
                : `${axis.folds
                    .slice(0, NAMED_WAITS)
                    .map(({ from, to }) => tookMs(to - from))
                    .join(', ')}${axis.folds.length > NAMED_WAITS ? ' …' : ''} without spans`}
            </span>
            <Button
              kind="quiet"
              pressed={foldsWaits}
              title="Fold long waits (w)"
              onClick={() => setFoldsWaits(!foldsWaits)}
            >
              folded
            </Button>
          </p>
        ) : null}
        <Minimap spans={spans} axis={axis} zoom={zoom} setZoom={setZoom} />
        <Grid
          label="Spans"
          role="treegrid"
          class={`span-grid ${path === null && found === null ? '' : 'dimming'}`}
          columns={columnsOf(view)}
          rows={lines}
          height={ROW_PX}
          active={active}
          onActive={(index) => activate(lines[index])}
          onOpen={() => setPanelOpen(true)}
          keys={traceKeys({ lines, active, found, folding, setFolding, activate, step })}
          rowOf={(line) => rowOf(line, dims(line))}
          cells={(line) => {
            const fold = (isOpen: boolean): void => setFolding(withFold(folding, line, isOpen));
            return <LineCells line={line} zoom={view} fold={fold} />;
          }}
        />
      </div>
      {isPanelOpen ? <Divider /> : null}
      {isPanelOpen ? (
        <Panel
          trace={trace}
          header={header}
          span={selected}
          spans={spans}
          goTo={goTo}
          onClose={() => setPanelOpen(false)}
        />
      ) : null}
    </div>
  );
}

function useFolding(trace: string): [Folding, (next: Folding) => void] {
  const [folding, setFolding] = useState<Folding>(() => foldings.get(trace) ?? NOTHING_FOLDED);
  const set = (next: Folding): void => {
    foldings.set(trace, next);
    setFolding(next);
  };
  return [folding, set];
}

function columnsOf({ axis, from, to }: View): { name: string; class: string }[] {
  const ends = `${tookMs(axis.real(from))} – ${tookMs(axis.real(to))}`;
  const figures = [
    { name: 'Took', class: 's-took' },
    { name: 'Tokens', class: 's-tokens' },
    { name: 'Cost', class: 's-cost' },
  ];
  return [
    { name: 'Span', class: 's-name' },
    { name: ends, class: 's-bar' },
    ...(isNarrow.value ? figures.slice(0, 1) : figures),
  ];
}

const rowOf = (line: Line, isDim: boolean) => ({
  key: line.key,
  level: line.depth + 1,
  expanded: line.isOpen ?? undefined,
  class: `${isDim ? 'dim' : ''} ${line.kind === 'span' && line.span.isError ? 'bad-row' : ''}`,
});

/** With only the matches shown, their ancestors stay. */
function hiddenOf(spans: Spans, found: ReadonlySet<Span>): (span: Span) => boolean {
  const kept = new Set<Span>();
  for (const span of spans.all) {
    if (!found.has(span)) continue;
    for (let above: Span | null = span; above !== null && !kept.has(above); above = above.parent) kept.add(above);
  }
  return (span) => !kept.has(span);
}

interface TraceKeys {
  readonly lines: readonly Line[];
  readonly active: number;
  readonly found: ReadonlySet<Span> | null;
  readonly folding: Folding;
  readonly setFolding: (next: Folding) => void;
  readonly activate: (line: Line | undefined) => void;
  /** Selects the next or the previous span that `is` accepts. */
  readonly step: (by: 1 | -1, is: (span: Span) => boolean) => void;
}

function traceKeys(props: TraceKeys): Shortcuts {
  const { lines, active, found, folding, setFolding, activate, step } = props;
  const line = lines[active];
  return {
    ArrowRight: () => {
      if (line === undefined || line.isOpen === null) return;
      if (line.isOpen) activate(lines[active + 1]);
      else setFolding(withFold(folding, line, true));
    },
    ArrowLeft: () => {
      if (line === undefined) return;
      if (line.isOpen === true) setFolding(withFold(folding, line, false));
      else activate(parentOf(lines, active));
    },
    '*': () => line?.kind === 'span' && setFolding(foldBelow(folding, line.span, false)),
    '[': () => setFolding(foldLevel(folding, lines, false)),
    ']': () => setFolding(foldLevel(folding, lines, true)),
    e: () => step(1, ({ isError }) => isError),
    E: () => step(-1, ({ isError }) => isError),
    m: () => step(1, ({ category }) => category === 'model_call'),
    M: () => step(-1, ({ category }) => category === 'model_call'),
    n: () => step(1, (span) => found?.has(span) === true),
    N: () => step(-1, (span) => found?.has(span) === true),
  };
}

/** The next span in order of start, around the end. */
function nextOf(spans: Spans, from: Span | null, by: 1 | -1, wanted: (span: Span) => boolean): Span | undefined {
  const { all } = spans;
  const start = from === null ? (by === 1 ? -1 : all.length) : from.index;
  for (let step = 1; step <= all.length; step += 1) {
    const span = all[(start + by * step + 2 * all.length) % all.length];
    if (span !== undefined && wanted(span)) return span;
  }
  return undefined;
}

function parentOf(lines: readonly Line[], at: number): Line | undefined {
  const depth = lines[at]?.depth ?? 0;
  for (let above = at - 1; above >= 0; above -= 1) {
    const line = lines[above];
    if (line !== undefined && line.depth < depth) return line;
  }
  return undefined;
}

function foldBelow(folding: Folding, span: Span, fold: boolean): Folding {
  const folded = new Set(folding.folded);
  const waiting = [span];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (fold) folded.add(keyOf(next));
    else folded.delete(keyOf(next));
    waiting.push(...next.children);
  }
  return { ...folding, folded };
}

/** Folds the deepest open level, or unfolds the highest folded one. */
function foldLevel(folding: Folding, lines: readonly Line[], unfold: boolean): Folding {
  const candidates = lines.filter(({ isOpen }) => isOpen === !unfold);
  const depths = candidates.map(({ depth }) => depth);
  const level = depths.reduce((a, b) => (unfold ? Math.min(a, b) : Math.max(a, b)), depths[0] ?? 0);
  const atLevel = candidates.filter(({ depth }) => depth === level);
  return atLevel.reduce((changed, line) => withFold(changed, line, unfold), folding);
}

function zoomKeys(zoom: Zoom, length: number, setZoom: (zoom: Zoom) => void) {
  const by = (factor: number) => () => {
    const middle = (zoom.from + zoom.to) / 2;
    const half = Math.min(length, (zoom.to - zoom.from) * factor) / 2;
    const from = Math.max(0, Math.min(middle - half, length - 2 * half));
    setZoom({ from, to: from + 2 * half });
  };
  return { '+': by(0.5), '=': by(0.5), '-': by(2), '0': () => setZoom({ from: 0, to: length }) };
}

/** The border between the timeline and the panel. */
function Divider(): JSX.Element {
  const from = useRef<{ x: number; width: number } | null>(null);
  const set = (width: number): void => {
    panelWidth.value = String(Math.max(NARROWEST_PANEL_PX, Math.min(innerWidth - 320, Math.round(width))));
  };
  const width = Number(panelWidth.value) || 480;
  return (
    <div
      class="divider"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the panel"
      aria-valuenow={width}
      aria-valuemin={NARROWEST_PANEL_PX}
      aria-valuemax={2000}
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
        event.preventDefault();
        set(width + (event.key === 'ArrowLeft' ? 24 : -24));
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, width };
      }}
      onPointerMove={(event) => from.current !== null && set(from.current.width + from.current.x - event.clientX)}
      onPointerUp={() => (from.current = null)}
    />
  );
}
