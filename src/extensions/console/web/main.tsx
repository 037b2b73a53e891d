/** The entry of the console's page. */
import { render } from 'preact';
import { App } from './app.tsx';
import { startKeys } from './state/keys.ts';
import { startLocation } from './state/location.ts';
import { startTheme } from './state/settings.ts';
import { startWidth } from './state/width.ts';
import 'uplot/dist/uPlot.min.css';
import './style/base.css';
import './style/parts.css';
import './style/pages.css';

startTheme();
startWidth();
startLocation();
startKeys();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
