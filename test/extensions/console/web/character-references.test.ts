/** The names of characters in Markdown are those of HTML. The module is bundled as for the browser. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import t from 'tap';

const folder = new URL('../../../../../src/extensions/console/web/text/', import.meta.url);
const source = fileURLToPath(new URL('character-references.ts', folder));
const { outputFiles } = await build({ entryPoints: [source], bundle: true, write: false, format: 'esm' });
const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
const { decodeNamedCharacterReference } = (await import(`data:text/javascript;base64,${code}`)) as {
  decodeNamedCharacterReference(name: string): string | false;
};

/** The first, the last, and those beside a gap of each row of names. */
const KNOWN =
  'quot " amp & apos \' lt < gt > copy © times × divide ÷ yuml ÿ Alpha Α Rho Ρ Sigma Σ Omega Ω alpha α rho ρ ' +
  'sigmaf ς omega ω ndash – mdash — lsquo ‘ rsquo ’ sbquo ‚ ldquo “ bdquo „ dagger † bull • hellip … euro € trade ™ ' +
  'larr ← darr ↓ harr ↔ rArr ⇒ hArr ⇔ forall ∀ part ∂ exist ∃ sum ∑ minus − radic √ infin ∞ asymp ≈ ne ≠ equiv ≡ ' +
  'le ≤ ge ≥ check ✓';

t.test('names and what is no name', async (t) => {
  const words = KNOWN.split(' ');
  for (let at = 0; at < words.length; at += 2) {
    const [name = '', character] = words.slice(at);
    t.equal(decodeNamedCharacterReference(name), character, name);
  }
  t.equal(decodeNamedCharacterReference('nbsp'), '\u00a0');
  t.equal(decodeNamedCharacterReference('thinsp'), '\u2009');
  for (const name of ['none', 'constructor', '__proto__']) t.equal(decodeNamedCharacterReference(name), false);
});
