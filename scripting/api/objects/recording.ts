import { step } from '../core/call.ts';

/** A session's recording, as the API describes it. */
export interface Recording {
  recording: boolean;
  trajectoryBundle: { enabled: boolean; trajectory_id?: string; dir?: string };
  report?: Record<string, unknown>;
  timeline?: Record<string, unknown>[];
}

/** What a recording keeps. */
export interface RecordingOptions { trajectoryBundle?: boolean; screenshots?: 'none' | 'after' | 'both' }

function ask(action: 'start' | 'stop' | 'status', options: RecordingOptions = {}): Promise<Recording> {
  return step(`recording.${action}`, () => `Recording: ${action}`, send => send<Recording>('recording', { action, ...options }));
}

/** Records what programs and people do in the session. It ends with the session, not with the script. */
export const recording = {
  start: (options?: RecordingOptions): Promise<Recording> => ask('start', options),
  stop: (): Promise<Recording> => ask('stop'),
  status: (): Promise<Recording> => ask('status'),
};
