import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { ProblemBox } from '../parts/problem-box.js';
import { NoRole } from './no-role.js';
import { askWho, session } from './session.js';
import { SignInPage } from './sign-in.js';

/** Shows the pages to whoever may see them; all others are told what they need. */
export function SignInGate({ children }: { readonly children: ComponentChildren }) {
  const [location, navigate] = useLocation();
  const { value } = session;
  useEffect(() => void askWho(), []);
  const isSignInPage = location === '/signin';
  const isSomebody = value.kind === 'somebody' && value.who.level !== 'none';
  useEffect(() => {
    // Whoever is in already has nothing to do there.
    if (isSignInPage && isSomebody && value.who.kind !== 'local') navigate('/', { replace: true });
  }, [isSignInPage, isSomebody]);
  switch (value.kind) {
    case 'asking':
      // The page asks for what it shows meanwhile: whoever may not see it is refused that, too.
      return <>{children}</>;
    case 'away':
      return <ProblemBox error={value.problem} again={() => void askWho()} />;
    case 'nobody':
      return <SignInPage ended={value.ended} />;
    case 'somebody':
      if (isSignInPage) return <SignInPage ended={false} />;
      return value.who.level === 'none' ? <NoRole who={value.who} /> : <>{children}</>;
  }
}
