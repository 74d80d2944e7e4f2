/** What somebody wrote cannot be taken; the message is a sentence for him. */
export class NotJson extends Error {
  override readonly name = 'NotJson';
}
