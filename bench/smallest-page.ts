/**
 * The control of the page's times: a page of one line, whose script asks for one row and shows it. What it takes is the
 * browser's own work and the machine's.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const FILES: Readonly<Record<string, readonly [type: string, text: string]>> = {
  '/': ['text/html', '<!doctype html><title>a page</title><p>a line</p><script type="module" src="/page.js"></script>'],
  '/page.js': [
    'text/javascript',
    `const row = document.createElement('p');
     row.className = 'grid-row';
     row.textContent = (await (await fetch('/row')).json()).text;
     document.body.append(row);`,
  ],
  '/row': ['application/json', '{"text":"a row"}'],
};

export interface SmallestPage {
  readonly address: string;
  close(): void;
}

export async function serveSmallestPage(): Promise<SmallestPage> {
  const server = createServer((request, response) => {
    const [type, text] = FILES[request.url ?? ''] ?? ['text/plain', ''];
    response.writeHead(text === '' ? 404 : 200, { 'content-type': type, 'cache-control': 'no-store' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
