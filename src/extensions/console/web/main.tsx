/** The entry of the console's page. */
import { render } from 'preact';
import './style/base.css';

const root = document.getElementById('app');
if (root !== null) render(<main>Sluice</main>, root);
