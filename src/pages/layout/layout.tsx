import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link, useLocation, useRoute } from 'wouter-preact';
import { docsAddress, referenceAddress } from '../api.js';
import { KeyHelp } from '../keys/help.js';
import { helpIsOpen } from '../keys/keys.js';
import { Toasts } from '../parts/toasts.js';
import { session, signOut, who } from '../session/session.js';
import { theme, themes, type Theme } from './theme.js';

const pages = [
  { href: '/', title: 'Overview', pattern: '/' },
  { href: '/jobs', title: 'Jobs', pattern: '/jobs/*?' },
  { href: '/inbox', title: 'Inbox', pattern: '/inbox' },
  { href: '/flows', title: 'Flows', pattern: '/flows/*?' },
  { href: '/tasks', title: 'Tasks', pattern: '/tasks/*?' },
  { href: '/schedules', title: 'Schedules', pattern: '/schedules/*?' },
  { href: '/hooks', title: 'Hooks', pattern: '/hooks/*?' },
  { href: '/notify', title: 'Notifications', pattern: '/notify/*?' },
  { href: '/archive', title: 'Archive', pattern: '/archive/*?' },
  { href: '/engines', title: 'Engines', pattern: '/engines' },
] as const;

/** What stands around every page. */
export function Layout({ children }: { readonly children: ComponentChildren }) {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <Link href="/" class="brand">
          TWS
        </Link>
        <Place />
        <Navigation />
        <Elsewhere />
        <button
          type="button"
          class="quiet help"
          aria-label="Keys"
          title="Keys (?)"
          onClick={() => {
            helpIsOpen.value = true;
          }}
        >
          ?
        </button>
        <ThemeChoice />
        <Person />
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Toasts />
      <KeyHelp />
    </>
  );
}

/** Links to all pages. On a narrow screen they scroll; the one of this page is kept in view. */
function Navigation() {
  const nav = useRef<HTMLElement>(null);
  const [location] = useLocation();
  useEffect(() => {
    const here = nav.current?.querySelector('[aria-current]')?.getBoundingClientRect();
    const box = nav.current?.getBoundingClientRect();
    if (here === undefined || box === undefined) return;
    nav.current?.scrollBy({ left: here.left + here.width / 2 - box.left - box.width / 2 });
  }, [location]);
  return (
    <nav aria-label="Pages" ref={nav}>
      {pages.map((page) => (
        <NavLink key={page.href} {...page} />
      ))}
    </nav>
  );
}

/** Which project and which database are looked at: several may be open beside each other. */
function Place() {
  const place = who.value?.place;
  if (place === undefined) return null;
  const { project, database } = place;
  return (
    <span class="place" title={`Project ${project}, database ${database}`}>
      <b>{project}</b> <small class="muted">{database}</small>
    </span>
  );
}

/** What is no page of these: the documentation, the reference of the API, and the database. */
function Elsewhere() {
  const { fauxton, docs = false } = who.value?.place ?? {};
  return (
    <span class="elsewhere">
      {docs && <a href={docsAddress}>Docs</a>}
      <a href={referenceAddress}>API</a>
      {fauxton !== undefined && <a href={fauxton}>Fauxton</a>}
    </span>
  );
}

type NavProps = { readonly href: string; readonly title: string; readonly pattern: string };

function NavLink({ href, title, pattern }: NavProps) {
  const [isHere] = useRoute(pattern);
  return (
    <Link href={href} aria-current={isHere ? 'page' : undefined}>
      {title}
    </Link>
  );
}

const themeNames: Readonly<Record<Theme, string>> = {
  auto: 'Auto',
  light: 'Light',
  dark: 'Dark',
};

function ThemeChoice() {
  return (
    <select
      class="theme"
      aria-label="Colours"
      value={theme.value}
      onChange={({ currentTarget }) => {
        theme.value = themes.find((one) => one === currentTarget.value) ?? 'auto';
      }}
    >
      {themes.map((one) => (
        <option key={one} value={one}>
          {themeNames[one]}
        </option>
      ))}
    </select>
  );
}

function Person() {
  const somebody = who.value;
  if (session.value.kind !== 'somebody' || somebody === undefined) return null;
  if (somebody.kind === 'local') {
    return (
      <span class="person" title="On this machine nobody has to sign in.">
        on this machine
      </span>
    );
  }
  const { name, level, owners } = somebody;
  const seen = owners === 'all' ? 'all owners' : `owners: ${owners.join(', ')}`;
  return (
    <span class="person">
      <span title={`Level ${level}, ${seen}`}>
        {name} <small>{level === 'none' ? 'no role' : level}</small>
      </span>
      <button type="button" class="quiet" onClick={() => void signOut()}>
        Sign out
      </button>
    </span>
  );
}
