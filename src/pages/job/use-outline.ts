import { useCallback, useMemo, useState } from 'preact/hooks';
import { firstItems, outlineRows, type ItemChoice, type OutlineRow } from './outline-rows.js';
import type { OutlineNode } from './outline.js';

/** The steps of a job as rows, and what somebody opens of them. */
export type StepOutline = {
  readonly rows: readonly OutlineRow[];
  readonly choiceOf: (path: string) => ItemChoice;
  readonly open: (path: string, isOpen: boolean) => void;
  readonly choose: (path: string, choice: ItemChoice) => void;
  readonly showMore: (path: string) => void;
};

/** Keeps what is opened; the timeline and the table of steps show the same. */
export function useOutline(nodes: readonly OutlineNode[]): StepOutline {
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [choices, setChoices] = useState<ReadonlyMap<string, ItemChoice>>(new Map());
  const rows = useMemo(() => outlineRows(nodes, { opened, choices }), [nodes, opened, choices]);
  const open = useCallback((path: string, isOpen: boolean) => {
    setOpened((before) => new Map(before).set(path, isOpen));
  }, []);
  const choose = useCallback((path: string, choice: ItemChoice) => {
    setChoices((before) => new Map(before).set(path, choice));
  }, []);
  const showMore = useCallback((path: string) => {
    setChoices((before) => {
      const { most = firstItems, ...rest } = before.get(path) ?? {};
      return new Map(before).set(path, { ...rest, most: most + 10 * firstItems });
    });
  }, []);
  const choiceOf = useCallback((path: string) => choices.get(path) ?? {}, [choices]);
  return { rows, choiceOf, open, choose, showMore };
}
