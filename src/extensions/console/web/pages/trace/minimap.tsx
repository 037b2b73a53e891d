/** The whole trace at a glance. Dragging zooms the bars, a double click shows everything. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Axis } from '../../data/axis.ts';
import type { Spans } from '../../data/spans.ts';
import { theme } from '../../state/settings.ts';
import { tookMs } from '../../text/figures.ts';
import { hueOf } from '../../parts/category.tsx';
import type { Zoom } from './zoom.ts';

const HEIGHT = 40;
const MOST_FOLDS = 50;
const HUES = ['model', 'tool', 'retrieval', 'embedding', 'agent', 'workflow', 'guardrail', 'other'];

interface MinimapProps {
  readonly spans: Spans;
  readonly axis: Axis;
  readonly zoom: Zoom;
  readonly setZoom: (zoom: Zoom) => void;
}

export function Minimap({ spans, axis, zoom, setZoom }: MinimapProps): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [drag, setDrag] = useState<Zoom | null>(null);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const draw = (): void => {
      if (canvas.current !== null && width > 0) paint(canvas.current, spans, axis, width);
    };
    draw();
    scheme.addEventListener('change', draw);
    return () => scheme.removeEventListener('change', draw);
  }, [spans, axis, width, theme.value]);
  const at = (event: PointerEvent): number => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * axis.length;
  };
  const shown = drag === null ? zoom : { from: Math.min(drag.from, drag.to), to: Math.max(drag.from, drag.to) };
  const end = (): void => {
    setDrag(null);
    if (shown.to - shown.from > axis.length / 1_000) setZoom(shown);
  };
  return (
    <div
      class="minimap"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ from: at(event), to: at(event) });
      }}
      onPointerMove={(event) => drag !== null && setDrag({ from: drag.from, to: at(event) })}
      onPointerUp={end}
      onDblClick={() => setZoom({ from: 0, to: axis.length })}
    >
      <canvas ref={canvas} />
      {axis.folds.slice(0, MOST_FOLDS).map(({ from, to, at: place }) => (
        <span
          key={from}
          class="wait"
          title={`${tookMs(to - from)} without spans`}
          style={{ left: `${(100 * place) / axis.length}%`, width: `${(100 * axis.width) / axis.length}%` }}
        />
      ))}
      <span class="shade" style={{ left: 0, width: `${(100 * shown.from) / axis.length}%` }} />
      <span class="shade" style={{ right: 0, width: `${100 - (100 * shown.to) / axis.length}%` }} />
    </div>
  );
}

/** Spans from top to bottom in order of start, those with an error or of a model last, so that they are seen. */
function paint(canvas: HTMLCanvasElement, spans: Spans, axis: Axis, width: number): void {
  const scale = devicePixelRatio;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(HEIGHT * scale);
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.scale(scale, scale);
  context.clearRect(0, 0, width, HEIGHT);
  const colors = colorsOf(canvas);
  const line = Math.max(1, Math.min(4, (HEIGHT - 4) / spans.all.length));
  const weight = (name: string): number => (name === 'bad' ? 2 : name === 'model' ? 1 : 0);
  const drawn = spans.all.map((span) => ({ span, color: span.isError ? 'bad' : hueOf(span.category) }));
  drawn.sort((a, b) => weight(a.color) - weight(b.color));
  for (const { span, color } of drawn) {
    context.fillStyle = colors.get(color) ?? '';
    const x = (width * axis.at(span.start)) / axis.length;
    const y = 2 + ((HEIGHT - 6) * span.index) / Math.max(1, spans.all.length - 1);
    context.fillRect(x, y, Math.max(1, (width * (span.duration ?? 0)) / axis.length), line);
  }
}

/** The colours of the style sheet in the present theme. */
function colorsOf(canvas: HTMLCanvasElement): ReadonlyMap<string, string> {
  const before = canvas.className;
  const colors = new Map<string, string>();
  for (const hue of [...HUES, 'bad']) {
    canvas.className = hue === 'bad' ? 'bad-text' : `hue-${hue}`;
    colors.set(hue, getComputedStyle(canvas).color);
  }
  canvas.className = before;
  return colors;
}
