import type { AriaNode } from './secrets.ts';

/** The parts of Playwright's injected script, version 1.65, that we use. The script itself is not in this bundle; the layer receives it. */
export interface Injected {
  readonly document: Document;
  readonly utils: {
    asLocator(language: string, selector: string): string;
    isElementVisible(element: Element): boolean;
    parseAriaSnapshot(yaml: unknown, text: string): { fragment: unknown; errors: { message: string }[] };
    builtins: {
      setTimeout: typeof globalThis.setTimeout;
      clearTimeout: typeof globalThis.clearTimeout;
      requestAnimationFrame: typeof globalThis.requestAnimationFrame;
      performance: Performance;
    };
  };
  parseSelector(selector: string): ParsedSelector;
  querySelectorAll(selector: ParsedSelector, root: Node): Element[];
  strictModeViolationError(selector: ParsedSelector, elements: Element[]): Error;
  checkDeprecatedSelectorUsage(selector: ParsedSelector, elements: Element[]): void;
  createStacklessError(message: string): Error;
  previewNode(node: Node): string;
  retarget(node: Node, behavior: 'none' | 'follow-label' | 'no-follow-label' | 'button-link'): Element | null;
  elementState(node: Node, state: string, frameVisible?: boolean): { matches: boolean; received: string; isRadio?: boolean };
  checkElementStates(node: Node, states: string[], frameVisible?: boolean): Promise<NotReady | undefined>;
  getElementBorderWidth(node: Node): { left: number; top: number };
  expectHitTarget(point: Point, element: Element): 'done' | { hitTargetDescription: string };
  /** Handles each trusted event of the mouse or of fingers. setupHitTargetInterceptor sets it, and stop removes it. */
  _hitTargetInterceptor?: (event: Event) => void;
  setupHitTargetInterceptor(node: Node, action: 'hover' | 'tap' | 'mouse' | 'drag', point: Point | undefined, blockAll: boolean): Interceptor | string;
  fill(node: Node, value: string): string;
  selectText(node: Node): string;
  selectOptions(node: Node, options: unknown[]): string[] | string;
  focusNode(node: Node, resetSelectionIfNotFocused?: boolean): string;
  blurNode(node: Node): string;
  setInputFiles(node: Node, files: FilePayload[]): string | undefined;
  dispatchEvent(node: Node, type: string, init: unknown): void;
  documentContent(includeShadow: boolean): string;
  ariaSnapshot(node: Node, options: AriaOptions): string;
  ariaSnapshotJSON(node: Node, options: AriaOptions): { json: AriaNode[]; iframeRefs: string[]; iframeDepths: Record<string, number> };
  setHighlights(highlights: { selector: ParsedSelector; cssStyle?: string }[]): void;
  ariaSnapshotForExpectFailure(node: Node, options: { mode: string }): string;
  expect(element: Element | undefined, options: unknown, elements: Element[], frameVisible: boolean): Promise<{ matches: boolean; received?: unknown }>;
  generateSelectorSimple(element: Element): string;
}

export interface AriaOptions { mode: string; depth?: number; boxes?: boolean }
export interface ParsedSelector { parts: SelectorPart[]; capture?: number }
export interface SelectorPart { name: string; body: unknown; source: string }
export interface Point { x: number; y: number }
export interface FilePayload { name: string; mimeType: string; buffer: string; lastModifiedMs?: number }
export interface Interceptor { stop(): 'done' | { hitTargetDescription: string } }

/** Why an element is not ready for an action. */
export type NotReady = 'error:notconnected' | { missingState: string };
