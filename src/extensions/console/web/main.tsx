/** The entry of the console's page. */
import { render } from 'preact';
import { App } from './app.tsx';
import { startKeys } from './state/keys.ts';
import { startLocation } from './state/location.ts';
import { startTheme } from './state/settings.ts';
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

startTheme();
startWidth();
startLocation();
startKeys();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
