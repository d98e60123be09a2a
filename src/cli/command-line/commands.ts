/**
 * List of the commands in the order of the help. The implementation of a command is loaded only when the
 * command is called. `apply` and `test` run the service in this process, and loading their code would take
 * longer than the request of `check`.
 */
import type { CommandListing } from '#cli/session/command.ts'

export const COMMANDS: readonly CommandListing[] = [
  {
    usage: 'check <user> <action> <resource>',
    description: 'Checks whether a user can perform an action on a resource. Exit code 0: yes, 1: no',
    load: async () => (await import('#cli/commands/check.ts')).checkCommand,
  },
  {
    usage: 'bulk <file>',
    description: 'Makes the checks of a file, one per line. Exit code 0: all are allowed',
    load: async () => (await import('#cli/commands/bulk.ts')).bulkCommand,
  },
  {
    usage: 'list',
    description: 'Lists the resources, users or actions for which a check returns allow',
    load: async () => (await import('#cli/commands/list.ts')).listCommand,
  },
  {
    usage: 'explain <user> <action> <resource>',
    description: 'Explains why access is allowed or denied. Exit codes as for check',
    load: async () => (await import('#cli/commands/explain.ts')).explainCommand,
  },
  {
    usage: 'plan <user> <action> <type>',
    description: 'Prints a filter for the rows of your database. Exit code 1: no row',
    load: async () => (await import('#cli/commands/plan.ts')).planCommand,
  },
  {
    usage: 'test <files..>',
    description: 'Runs the tests of model files, without a server',
    load: async () => (await import('#cli/commands/test.ts')).testCommand,
  },
  {
    usage: 'apply <file>',
    description: 'Changes an environment to match a model file, after showing the plan',
    load: async () => (await import('#cli/commands/apply.ts')).applyCommand,
  },
  {
    usage: 'grant <user> <role> [on|in] [place]',
    description: 'Grants a role to a user or a group, with or without expiration time',
    load: async () => (await import('#cli/commands/grant.ts')).grantCommand,
  },
  {
    usage: 'revoke <user> <role> [on|in] [place]',
    description: 'Revokes a role of a user or a group',
    load: async () => (await import('#cli/commands/revoke.ts')).revokeCommand,
  },
  {
    usage: 'watch',
    description: 'Prints changes of an environment as they happen',
    load: async () => (await import('#cli/commands/watch.ts')).watchCommand,
  },
  {
    usage: 'load <file>',
    description: 'Adds facts, condition sets and rules, one per line',
    load: async () => (await import('#cli/commands/load.ts')).loadCommand,
  },
  {
    usage: 'export [file]',
    description: 'Writes a snapshot of an environment, one entity per line',
    load: async () => (await import('#cli/commands/export.ts')).exportCommand,
  },
  {
    usage: 'import <file>',
    description: 'Loads an export into an environment atomically; decisions continue',
    load: async () => (await import('#cli/commands/import.ts')).importCommand,
  },
  {
    usage: 'backup <file>',
    description: 'Writes a backup of the embedded store, including API keys, while the service runs',
    load: async () => (await import('#cli/commands/backup.ts')).backupCommand,
  },
  {
    usage: 'restore <file> <directory>',
    description: 'Creates the directory of an embedded store from a backup',
    load: async () => (await import('#cli/commands/restore.ts')).restoreCommand,
  },
  {
    usage: 'status',
    description: 'Shows whether the service is ready, and the content of the environment',
    load: async () => (await import('#cli/commands/status.ts')).statusCommand,
  },
  {
    usage: 'keys',
    description: 'Lists, creates, rotates and revokes API keys',
    load: async () => (await import('#cli/commands/keys.ts')).keysCommand,
  },
  {
    usage: 'members',
    description: 'Invites and removes members and groups, and changes their permissions',
    load: async () => (await import('#cli/commands/members.ts')).membersCommand,
  },
  {
    usage: 'sessions',
    description: 'Lists and ends the sessions of members',
    load: async () => (await import('#cli/commands/sessions.ts')).sessionsCommand,
  },
  {
    usage: 'project',
    description: 'Lists, creates, renames and deletes projects',
    load: async () => (await import('#cli/commands/project.ts')).projectCommand,
  },
  {
    usage: 'env',
    description: 'Lists, creates, copies, renames and deletes environments of a project',
    load: async () => (await import('#cli/commands/env.ts')).envCommand,
  },
  {
    usage: 'schema',
    description: 'Prints the JSON Schema of model files',
    load: async () => (await import('#cli/commands/schema.ts')).schemaCommand,
  },
  {
    usage: 'completion [shell]',
    description: 'Prints a completion script for bash, zsh or fish',
    load: async () => (await import('./completion-command.ts')).completionCommand,
  },
  {
    usage: 'serve',
    description: 'Runs the service; verdict serve --help lists its settings',
    load: async () => (await import('#cli/commands/serve.ts')).serveCommand,
  },
]
