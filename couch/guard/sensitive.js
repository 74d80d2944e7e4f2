/*
 * Keeps values in clear out of a database of sensitive values, and the records of accesses as they
 * were written.
 */
export default function validate(newDoc, oldDoc, user) {
  var roles = (user && user.roles) || [];
  if (roles.indexOf('_admin') < 0 && oldDoc && oldDoc.type === 'sensitive-access') {
    throw { forbidden: 'A record of an access to sensitive values cannot be changed or removed.' };
  }
  if (newDoc._deleted || newDoc.type !== 'sensitive') return;
  var values = newDoc.values;
  for (var name in values) {
    if (typeof values[name] !== 'string' || !/^tws:s1:/.test(values[name])) {
      throw { forbidden: 'Sensitive values are stored sealed: use "tws sensitive put".' };
    }
  }
}
