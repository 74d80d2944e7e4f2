import { loadHandlebars } from './late-packages.js';

/** The helper through which every `{{path}}` goes, so that what it becomes can be counted. */
export const textHelper = 'text of a path';

/**
 * Parses a template. Partials are refused: those within a template can name each other, and fill in
 * 2^n times what they hold. Every `{{path}}` becomes a call of `textHelper`. `isHelper`: a name that
 * stands for a helper.
 *
 * @throws Error that says why the template cannot be read
 */
export function parseTemplate(template: string, isHelper: IsHelper): hbs.AST.Program {
  const tree = loadHandlebars().parse(template);
  Texts ??= makeTexts();
  new Texts(isHelper).accept(tree);
  return tree;
}

type IsHelper = (name: string) => boolean;

/** What goes through a template; its class extends one of the package. */
let Texts: ReturnType<typeof makeTexts> | undefined;

function makeTexts() {
  return class extends loadHandlebars().Visitor {
    readonly #isHelper: IsHelper;

    constructor(isHelper: IsHelper) {
      super();
      this.#isHelper = isHelper;
    }

    override MustacheStatement(tag: hbs.AST.MustacheStatement): void {
      super.MustacheStatement(tag);
      const { path } = tag;
      if (tag.params.length > 0 || (tag.hash as unknown) !== undefined || !isPath(path)) return;
      const [name = '', ...more] = path.parts;
      if (path.depth === 0 && !path.data && more.length === 0 && this.#isHelper(name)) return;
      // As at the head of a tag: a name that is missing is an error.
      const strict: StrictPath = { ...path, strict: true };
      tag.params = [strict];
      tag.path = { ...path, data: false, depth: 0, parts: [textHelper], original: textHelper };
    }

    override PartialStatement(): void {
      refuse();
    }
    override PartialBlockStatement(): void {
      refuse();
    }
    override Decorator(): void {
      refuse();
    }
    override DecoratorBlock(): void {
      refuse();
    }
  };
}

function refuse(): never {
  throw new Error('partials ("{{>" and "{{#*") are not known here');
}

/** A path as the compiler of Handlebars marks it at the head of a tag. */
type StrictPath = hbs.AST.PathExpression & { readonly strict: true };

function isPath(path: hbs.AST.PathExpression | hbs.AST.Literal): path is hbs.AST.PathExpression {
  return path.type === 'PathExpression';
}
