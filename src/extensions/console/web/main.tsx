/** The entry of the console's page. */
import { render } from 'preact';
import { App } from './app.tsx';
import { Guard } from './parts/guard.tsx';
import { PLACEHOLDER_AFTER_MS } from './data/resource.ts';
import { startKeys } from './state/keys.ts';
import { route, startLocation } from './state/location.ts';
import { loadMe } from './state/session.ts';
import { startTheme } from './state/settings.ts';
import { startTab } from './state/tab.ts';
import { startWidth } from './state/width.ts';
import 'uplot/dist/uPlot.min.css';
import './style/base.css';
import './style/frame.css';
import './style/controls.css';
import './style/states.css';
import './style/tables.css';
import './style/pages.css';
import './style/traces.css';
import './style/metrics.css';
import './style/compare.css';
import './style/trace.css';
import './style/messages.css';
import './style/usage.css';
import './style/narrow.css';
import './style/print.css';

startTheme();
startWidth();
startTab();
startLocation();
startKeys();
const root = document.getElementById('app') as HTMLElement;
// The empty frame in index.html stays until it is known which person reads. Otherwise an empty page would follow it.
// A slow request is not aborted, so that its answer is still used.
if (route.value.page !== 'login')
  await Promise.race([
    loadMe().catch(() => undefined),
    new Promise((resolve) => setTimeout(resolve, PLACEHOLDER_AFTER_MS)),
  ]);
root.replaceChildren();
render(
  <Guard>
    <App />
  </Guard>,
  root,
);
