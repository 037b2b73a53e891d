/** Markdown as nodes of the page. HTML in it is text, pictures are their addresses, links are checked. */
import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTable } from 'micromark-extension-gfm-table';
import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { safeUrl } from '../text/safe-url.ts';

const DEEPEST = 60;

export function Markdown({ text }: { text: string }): JSX.Element {
  const tree = useMemo(
    () => fromMarkdown(text, { extensions: [gfmTable()], mdastExtensions: [gfmTableFromMarkdown()] }),
    [text],
  );
  return <div class="markdown">{below(tree, 0)}</div>;
}

function below(node: Nodes, depth: number): ComponentChildren {
  if (!('children' in node)) return null;
  if (depth > DEEPEST) return '…';
  return node.children.map((child) => render(child, depth + 1));
}

function render(node: Nodes, depth: number): ComponentChildren {
  switch (node.type) {
    case 'text':
    case 'html':
      return node.value;
    case 'paragraph':
      return <p>{below(node, depth)}</p>;
    case 'heading':
      return <p class={`heading level-${node.depth}`}>{below(node, depth)}</p>;
    case 'strong':
      return <strong>{below(node, depth)}</strong>;
    case 'emphasis':
      return <em>{below(node, depth)}</em>;
    case 'inlineCode':
      return <code>{node.value}</code>;
    case 'code':
      return <pre class="code">{node.value}</pre>;
    case 'blockquote':
      return <blockquote>{below(node, depth)}</blockquote>;
    case 'list':
      return node.ordered === true ? (
        <ol start={node.start ?? 1}>{below(node, depth)}</ol>
      ) : (
        <ul>{below(node, depth)}</ul>
      );
    case 'listItem':
      return <li>{below(node, depth)}</li>;
    case 'link':
      return <Anchor address={node.url}>{below(node, depth)}</Anchor>;
    case 'image':
      return `![${node.alt ?? ''}](${node.url})`;
    case 'break':
      return <br />;
    case 'thematicBreak':
      return <hr />;
    case 'table':
      return <Table rows={node.children} depth={depth} />;
    case 'linkReference':
      return below(node, depth);
    default:
      return 'children' in node ? below(node, depth) : null;
  }
}

function Table({ rows, depth }: { rows: readonly Nodes[]; depth: number }): JSX.Element {
  return (
    <table>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {'children' in row
              ? row.children.map((cell, index) =>
                  at === 0 ? (
                    <th key={index} scope="col">
                      {below(cell, depth)}
                    </th>
                  ) : (
                    <td key={index}>{below(cell, depth)}</td>
                  ),
                )
              : null}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Anchor({ address, children }: { address: string; children: ComponentChildren }): JSX.Element {
  const href = safeUrl(address);
  if (href === null)
    return (
      <span>
        {children} ({address})
      </span>
    );
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
