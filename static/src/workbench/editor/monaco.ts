import { editor as monaco, KeyCode, KeyMod, MarkerSeverity, Range, Uri } from 'monaco-editor/editor/editor.api';
import 'monaco-editor/features/bracketMatching/register';
import 'monaco-editor/features/caretOperations/register';
import 'monaco-editor/features/clipboard/register';
import 'monaco-editor/features/comment/register';
import 'monaco-editor/features/cursorUndo/register';
import 'monaco-editor/features/find/register';
import 'monaco-editor/features/format/register';
import 'monaco-editor/features/gotoError/register';
import 'monaco-editor/features/hover/register';
import 'monaco-editor/features/indentation/register';
import 'monaco-editor/features/linesOperations/register';
import 'monaco-editor/features/multicursor/register';
import 'monaco-editor/features/parameterHints/register';
import 'monaco-editor/features/snippet/register';
import 'monaco-editor/features/toggleTabFocusMode/register';
import 'monaco-editor/features/wordHighlighter/register';
import 'monaco-editor/features/wordOperations/register';
import 'monaco-editor/features/codicon/register';
// The feature "suggest" does not include the list of completions, so its controller is imported separately.
import 'monaco-editor/editor/contrib/suggest/browser/suggestController';
import 'monaco-editor/languages/definitions/typescript/register';
import { ModuleKind, ModuleResolutionKind, ScriptTarget, typescriptDefaults } from 'monaco-editor/languages/features/typescript/register';
import type { Kind } from '../../ui/colours.js';
import type { EditorView } from './editor.js';
import { SCOPE } from './scope.js';

/** URL paths of the workers, known at build time. */
declare const EDITOR_WORKER: string;
declare const TS_WORKER: string;
/** URL path of the declarations of the script API as JSON: a text for each file. */
declare const SCRIPT_TYPES: string;

interface MountOptions {
  host: HTMLElement;
  /** URL path of Monaco's stylesheet. */
  style: string;
  /** Nonce for Monaco's style elements. */
  nonce: string;
  value: string;
  changed(): void;
  run(): void;
  /** Is called with the number of problems after each check of the script. */
  problems(count: number): void;
}

/** Errors about code that is valid in a script, though not in a module: return and await outside functions. */
const ALLOWED = [1108, 1375, 1378, 1431, 1432];

/** Puts an editor into an element and returns its controls. */
export async function mount(options: MountOptions): Promise<EditorView> {
  (globalThis as { takeoverStyleNonce?: string }).takeoverStyleNonce = options.nonce;
  await loadStyle(options.style);
  // TypeScript takes a processor for seconds to start, so it does when somebody turns to the script.
  let turn = (): void => {};
  const turned = new Promise<void>((resolve) => (turn = resolve));
  globalThis.MonacoEnvironment = {
    getWorker: (_id, label) => (label === 'typescript' ? turned.then(() => new Worker(TS_WORKER)) : new Worker(EDITOR_WORKER)),
  };
  typescriptDefaults.setCompilerOptions({ target: ScriptTarget.ESNext, module: ModuleKind.ESNext, moduleResolution: ModuleResolutionKind.NodeJs, lib: ['esnext', 'dom'], strict: true, noEmit: true, allowNonTsExtensions: true });
  // Without the declarations of the script API, everything would look wrong.
  typescriptDefaults.setDiagnosticsOptions({ noSemanticValidation: true });
  void loadTypes();
  defineThemes();

  const element = document.createElement('div');
  element.className = 'monaco-host';
  options.host.append(element);
  const model = monaco.createModel(options.value, 'typescript', Uri.parse('file:///script.ts'));
  const view = monaco.create(element, {
    model,
    theme: themeName(),
    automaticLayout: true,
    minimap: { enabled: false },
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--mono'),
    fontSize: 13,
    lineHeight: 20,
    padding: { top: 12, bottom: 12 },
    lineNumbersMinChars: 3,
    lineDecorationsWidth: 8,
    glyphMargin: false,
    folding: false,
    overviewRulerLanes: 0,
    hideCursorInOverviewRuler: true,
    renderLineHighlight: 'none',
    scrollBeyondLastLine: false,
    scrollbar: { verticalScrollbarSize: 10, horizontalScrollbarSize: 10, useShadows: false, alwaysConsumeMouseWheel: false },
    fixedOverflowWidgets: true,
    guides: { indentation: false },
    showUnused: false, // faded text has too little contrast
    tabSize: 2,
    renderFinalNewline: 'on',
    wordWrap: 'on',
    wrappingIndent: 'indent',
    ariaLabel: 'Script',
    accessibilitySupport: 'auto',
    unicodeHighlight: { ambiguousCharacters: false },
    editContext: false, // what it gets cannot be looked at before it is typed; see below
  });
  view.onDidFocusEditorText(turn);
  element.addEventListener('pointerenter', turn);
  view.addCommand(KeyMod.CtrlCmd | KeyCode.Enter, () => options.run());
  // Monaco would indent each line of a text that an input method or a drop puts in, as if somebody typed it.
  element.addEventListener('beforeinput', (event) => {
    if (event.inputType !== 'insertText' || !event.data?.includes('\n')) return;
    event.preventDefault();
    view.trigger('insert', 'paste', { text: event.data, pasteOnNewLine: false, multicursorText: null });
  }, true);
  model.onDidChangeContent(() => options.changed());
  monaco.onDidChangeMarkers(() => options.problems(monaco.getModelMarkers({ resource: model.uri }).filter(({ severity }) => severity >= MarkerSeverity.Warning).length));
  document.addEventListener('themechange', () => {
    defineThemes();
    monaco.setTheme(themeName());
  });

  const marks = view.createDecorationsCollection();
  const runs = view.createDecorationsCollection();
  return {
    get value() {
      return model.getValue();
    },
    set value(text) {
      turn();
      model.setValue(text);
    },
    goto(line, column) {
      view.setPosition({ lineNumber: line, column });
      view.revealLineInCenter(line);
      view.focus();
    },
    mark(line) {
      if (line === null || line > model.getLineCount()) {
        marks.clear();
        return;
      }
      marks.set([{ range: new Range(line, 1, line, 1), options: { isWholeLine: true, className: 'line-error', linesDecorationsClassName: 'line-error-mark' } }]);
      view.revealLineInCenterIfOutsideViewport(line);
    },
    nextProblem() {
      view.focus();
      view.trigger('problems', 'editor.action.marker.next', null);
    },
    running(line) {
      if (line === null || line > model.getLineCount()) runs.clear();
      else runs.set([{ range: new Range(line, 1, line, 1), options: { isWholeLine: true, className: 'line-running', linesDecorationsClassName: 'line-running-mark' } }]);
    },
  };
}

/** Loads the declarations of what scripts can use. The editor also works without them. */
async function loadTypes(): Promise<void> {
  try {
    const response = await fetch(SCRIPT_TYPES);
    const files = (await response.json()) as Record<string, string>;
    for (const [file, text] of Object.entries({ ...files, 'file:///scope.d.ts': SCOPE })) typescriptDefaults.addExtraLib(text, file);
    typescriptDefaults.setDiagnosticsOptions({ diagnosticCodesToIgnore: ALLOWED });
  } catch {
    // Completion is optional.
  }
}

/** Resolves when the stylesheet has loaded, because Monaco needs it for its layout. */
function loadStyle(href: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = href;
    link.onload = () => resolve();
    link.onerror = () => reject(new Error('load the editor stylesheet'));
    document.head.append(link);
  });
}

function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : window.matchMedia('(prefers-color-scheme: dark)').matches;
}

function themeName(): string {
  if (window.matchMedia('(forced-colors: active)').matches) return isDark() ? 'hc-black' : 'hc-light';
  return isDark() ? 'takeover-dark' : 'takeover-light';
}

/** Returns what a colour of tokens.css is in the theme of now, as six hexadecimal digits. */
function colourNow(name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const parts = getComputedStyle(probe).color.match(/\d+/g) ?? [];
  probe.remove();
  return parts.slice(0, 3).map((part) => Number(part).toString(16).padStart(2, '0')).join('');
}

/** The kinds of tokens that have a colour of code in tokens.css. */
const KINDS: Record<string, Kind> = { comment: 'comment', keyword: 'keyword', string: 'string', number: 'number', regexp: 'number', type: 'quiet', delimiter: 'quiet' };

/** Defines the themes with the colours that code has now. Only that of now is used. */
function defineThemes(): void {
  const rules = [{ token: '', foreground: colourNow('--text') }, ...Object.entries(KINDS).map(([token, kind]) => ({ token, foreground: colourNow(`--code-${kind}`) }))];
  monaco.defineTheme('takeover-light', {
    base: 'vs',
    inherit: true,
    rules,
    colors: { 'editor.background': '#ffffff', 'editor.foreground': '#171b23', 'editorLineNumber.foreground': '#6b7486', 'editorLineNumber.activeForeground': '#171b23', 'editor.selectionBackground': '#d9dbfc', 'editorWidget.background': '#ffffff', 'editorWidget.border': '#e0e4ea', 'editorSuggestWidget.background': '#ffffff', 'editorSuggestWidget.border': '#e0e4ea', 'editorSuggestWidget.selectedBackground': '#e6e7fc', 'editorSuggestWidget.selectedForeground': '#171b23', 'editorSuggestWidget.selectedIconForeground': '#171b23', 'editorSuggestWidget.highlightForeground': '#474ccd', 'editorSuggestWidget.focusHighlightForeground': '#474ccd', 'editorHoverWidget.background': '#ffffff', 'editorHoverWidget.border': '#e0e4ea', 'textLink.foreground': '#474ccd', focusBorder: '#474ccd', 'editorBracketHighlight.foreground1': '#555e6e', 'editorBracketHighlight.foreground2': '#555e6e', 'editorBracketHighlight.foreground3': '#555e6e', 'editorBracketHighlight.foreground4': '#555e6e', 'editorBracketHighlight.foreground5': '#555e6e', 'editorBracketHighlight.foreground6': '#555e6e' },
  });
  monaco.defineTheme('takeover-dark', {
    base: 'vs-dark',
    inherit: true,
    rules,
    colors: { 'editor.background': '#161a20', 'editor.foreground': '#e7eaf0', 'editorLineNumber.foreground': '#808b9d', 'editorLineNumber.activeForeground': '#e7eaf0', 'editor.selectionBackground': '#3a3e80', 'editorWidget.background': '#1c2129', 'editorWidget.border': '#262c36', 'editorSuggestWidget.background': '#1c2129', 'editorSuggestWidget.border': '#262c36', 'editorSuggestWidget.selectedBackground': '#31365c', 'editorSuggestWidget.selectedForeground': '#e7eaf0', 'editorSuggestWidget.selectedIconForeground': '#e7eaf0', 'editorSuggestWidget.highlightForeground': '#a9acff', 'editorSuggestWidget.focusHighlightForeground': '#a9acff', 'editorHoverWidget.background': '#1c2129', 'editorHoverWidget.border': '#262c36', 'textLink.foreground': '#a9acff', focusBorder: '#a9acff', 'editorBracketHighlight.foreground1': '#9ba5b5', 'editorBracketHighlight.foreground2': '#9ba5b5', 'editorBracketHighlight.foreground3': '#9ba5b5', 'editorBracketHighlight.foreground4': '#9ba5b5', 'editorBracketHighlight.foreground5': '#9ba5b5', 'editorBracketHighlight.foreground6': '#9ba5b5' },
  });
}
