/** Draws panels of measured points and their regression lines as one SVG. */

export interface Panel {
  readonly title: string;
  readonly unit: string;
  /** Sorted by x. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Line {
  readonly start: number;
  readonly slope: number;
  /** The largest distance of a point above the line, as a fraction of the highest point. */
  readonly bend: number;
}

const PANEL = { width: 360, height: 260, left: 58, right: 16, top: 36, bottom: 40 };
const COLUMNS = 2;
const TICKS = 4;

/** Least squares. */
export function lineThrough(points: Panel['points']): Line {
  const mean = (index: 0 | 1): number => points.reduce((sum, point) => sum + point[index], 0) / points.length;
  const [middleX, middleY] = [mean(0), mean(1)];
  const over = points.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0);
  const under = points.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0);
  const slope = under === 0 ? 0 : over / under;
  const start = middleY - slope * middleX;
  const highest = Math.max(...points.map(([, y]) => y));
  const bend = Math.max(...points.map(([x, y]) => y - (start + slope * x))) / highest;
  return { start, slope, bend };
}

export function plot(title: string, panels: readonly Panel[]): string {
  const rows = Math.ceil(panels.length / COLUMNS);
  const [width, height] = [PANEL.width * COLUMNS, PANEL.height * rows];
  const drawn = panels.map((panel, index) => {
    const x = (index % COLUMNS) * PANEL.width;
    const y = Math.floor(index / COLUMNS) * PANEL.height;
    return `<g transform="translate(${x} ${y})">${draw(panel)}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

function draw({ title, unit, points }: Panel): string {
  const inner = {
    width: PANEL.width - PANEL.left - PANEL.right,
    height: PANEL.height - PANEL.top - PANEL.bottom,
  };
  const mostX = Math.max(...points.map(([x]) => x));
  const mostY = Math.max(...points.map(([, y]) => y)) * 1.1;
  const at = (x: number, y: number): string =>
    `${(PANEL.left + (x / mostX) * inner.width).toFixed(1)} ${(PANEL.top + inner.height * (1 - y / mostY)).toFixed(1)}`;
  const { start, slope } = lineThrough(points);
  const ticks = Array.from({ length: TICKS + 1 }, (_, index) => index / TICKS);
  return [
    `<text x="${PANEL.left}" y="20" font-size="13" font-weight="bold">${title}</text>`,
    `<text x="${PANEL.left}" y="${PANEL.top - 4}" fill="#666">${unit}</text>`,
    `<path d="M${at(0, mostY)}L${at(0, 0)}L${at(mostX, 0)}" fill="none" stroke="#999"/>`,
    ...ticks.map((part) => label(at(part * mostX, 0), short(part * mostX), 'middle', [0, 16])),
    ...ticks.map((part) => label(at(0, part * mostY), short(part * mostY), 'end', [-6, 4])),
    `<path d="M${at(0, start)}L${at(mostX, start + slope * mostX)}" stroke="#d77" stroke-dasharray="4 3"/>`,
    ...points.map(([x, y]) => circle(at(x, y))),
  ].join('\n');
}

function label(place: string, text: string, anchor: string, [dx, dy]: readonly [number, number]): string {
  const [x, y] = place.split(' ').map(Number);
  return `<text x="${(x ?? 0) + dx}" y="${(y ?? 0) + dy}" text-anchor="${anchor}" fill="#666">${text}</text>`;
}

function circle(place: string): string {
  const [x, y] = place.split(' ');
  return `<circle cx="${x}" cy="${y}" r="3.5" fill="#369"/>`;
}

function short(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(2))} M`;
  if (value >= 1e3) return `${Number((value / 1e3).toPrecision(2))} k`;
  return String(Number(value.toPrecision(2)));
}
