// The options of page.pdf, converted for its operation.

/** Paper formats in inches, as in Playwright's documentation. */
const formats: Record<string, readonly [number, number]> = {
  letter: [8.5, 11], legal: [8.5, 14], tabloid: [11, 17], ledger: [17, 11],
  a0: [33.1, 46.8], a1: [23.4, 33.1], a2: [16.54, 23.4], a3: [11.7, 16.54], a4: [8.27, 11.7], a5: [5.83, 8.27], a6: [4.13, 5.83],
};

/** Units in CSS pixels; an inch has 96. */
const units: Record<string, number> = { px: 1, in: 96, cm: 37.8, mm: 3.78 };

interface PdfOptions {
  scale?: number; displayHeaderFooter?: boolean; headerTemplate?: string; footerTemplate?: string; printBackground?: boolean; landscape?: boolean;
  pageRanges?: string; format?: string; width?: string | number; height?: string | number; preferCSSPageSize?: boolean; tagged?: boolean; outline?: boolean;
  margin?: { top?: string | number; right?: string | number; bottom?: string | number; left?: string | number };
}

/** Returns the operation's parameters besides the page. */
export function pdfParams(o: PdfOptions = {}): object {
  let [paperWidth, paperHeight] = formats['letter']!;
  if (o.format) {
    const format = formats[o.format.toLowerCase()];
    if (!format)
      throw new Error('Unknown paper format: ' + o.format);
    [paperWidth, paperHeight] = format;
  } else {
    paperWidth = inches(o.width) ?? paperWidth;
    paperHeight = inches(o.height) ?? paperHeight;
  }
  const { margin = {} } = o;
  return {
    scale: o.scale ?? 1, displayHeaderFooter: !!o.displayHeaderFooter, headerTemplate: o.headerTemplate ?? '', footerTemplate: o.footerTemplate ?? '',
    printBackground: !!o.printBackground, landscape: !!o.landscape, pageRanges: o.pageRanges ?? '', preferCSSPageSize: !!o.preferCSSPageSize,
    tagged: !!o.tagged, outline: !!o.outline, paperWidth, paperHeight,
    marginTop: inches(margin.top) ?? 0, marginRight: inches(margin.right) ?? 0, marginBottom: inches(margin.bottom) ?? 0, marginLeft: inches(margin.left) ?? 0,
  };
}

function inches(length: string | number | undefined): number | undefined {
  if (length === undefined)
    return undefined;
  if (typeof length === 'number')
    return length / 96;
  const unit = units[length.slice(-2).toLowerCase()];
  const value = Number(unit === undefined ? length : length.slice(0, -2));
  if (Number.isNaN(value))
    throw new Error('Failed to parse parameter value: ' + length);
  return value * (unit ?? 1) / 96;
}
