import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createCssVariablesTheme, createHighlighter } from 'shiki';

const base = '/_tws/docs/';
const languages = ['docker', 'ini', 'js', 'json', 'sh', 'yaml'];
const named = { dockerfile: 'docker', mjs: 'js', service: 'ini' };

const highlighter = await createHighlighter({
  themes: [createCssVariablesTheme({ name: 'by-class' })],
  langs: languages,
});

/** Marked text with classes: the policy of the server allows no styles in the text. */
function highlight(text, given) {
  const lang = named[given] ?? (languages.includes(given) ? given : 'text');
  return highlighter
    .codeToHtml(text, { lang, theme: 'by-class' })
    .replace(/ style="color:var\(--shiki-([\w-]+)\)"/g, ' class="$1"')
    .replace(/ style="[^"]*"/g, '')
    .replace('<pre class="shiki by-class"', '<pre class="shiki" v-pre');
}

/** `{{name}}` is a template of TWS, none of Vue. */
function keepBraces(md) {
  const { code_inline: inline, text } = md.renderer.rules;
  const kept = (html) => html.replaceAll('{{', '&#123;&#123;').replaceAll('}}', '&#125;&#125;');
  for (const [rule, render] of Object.entries({ code_inline: inline, text })) {
    md.renderer.rules[rule] = (...args) => kept(render(...args));
  }
}

/** Scripts in a page become files, styles are dropped: the policy of the server allows none in the text. */
function withoutInline(html, { siteConfig }) {
  return html
    .replace(/ style="[^"]*"/g, '')
    .replace(/<script( id="[^"]*")?>([^]*?)<\/script>/g, (_all, id = '', code) => {
      const name = `assets/${createHash('sha256').update(code).digest('hex').slice(0, 12)}.js`;
      const file = join(siteConfig.outDir, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, code);
      return `<script${id} src="${base}${name}"></script>`;
    });
}

const site = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The title of a page is its heading. */
function titleOf(path) {
  return /^# (.+)$/m.exec(readFileSync(join(site, `${path}.md`), 'utf8'))[1];
}

const pages = (folder, names) =>
  names.map((name) => ({
    text: titleOf(folder + (name === '' ? 'index' : name)),
    link: `/${folder}${name}`,
  }));

const guides = [
  ...[
    'documents',
    'structures',
    'versions',
    'schedules',
    'triggers',
    'errors-and-retries',
    'concurrency',
    'notifications',
    'secrets',
    'sensitive-data',
  ],
  ...['plugins', 'workers', 'testing', 'cli', 'http-api', 'admin-pages', 'node-workflow'],
];
const reference = ['documents', 'errors', 'settings', 'commands', 'api', 'features'];
const operations = [
  ...['', 'sizing', 'scaling', 'copies', 'guard', 'systemd', 'containers', 'kubernetes'],
  ...['backup', 'upgrade', 'retention', 'monitoring', 'security'],
];
/** Pages beside the sources: their headings are about the folder. */
const inside = {
  model: 'Glossary',
  decide: 'Decisions',
  engine: 'Engine',
  plugin: 'Plugins',
  secrets: 'Secrets',
  replicas: 'Several copies',
  embedded: 'Embedded server',
};
const linksInside = Object.entries(inside).map(([name, text]) => ({
  text,
  link: `/inside/${name}`,
}));
const about = ['comparison', 'coming-from', 'development', 'changelog'];

/** The documentation; `scripts/site.js` lays out its pages. */
export default {
  base,
  lang: 'en',
  title: 'TWS',
  description: 'Workflows as plain documents.',
  cleanUrls: true,
  metaChunk: true,
  vite: { build: { minify: false, reportCompressedSize: false } },
  markdown: { highlight, config: keepBraces },
  transformHtml: (html, _id, context) => withoutInline(html, context),
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'Guides', link: '/guides/documents' },
      { text: 'Reference', link: '/reference/documents' },
      { text: 'Operations', link: '/operations/' },
    ],
    sidebar: [
      {
        text: 'Start',
        items: [
          { text: 'Overview', link: '/' },
          { text: 'Tutorial', link: '/tutorial' },
        ],
      },
      { text: 'Guides', items: pages('guides/', guides) },
      { text: 'Reference', items: pages('reference/', reference) },
      { text: 'Operations', items: pages('operations/', operations) },
      { text: 'Inside', collapsed: true, items: linksInside },
      { text: 'About', items: pages('', about) },
    ],
  },
};
